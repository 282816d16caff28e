// A browser may be started in a language that Intl does not know, such as `en-US@posix`; uPlot asks for it when it loads.
try {
  new Intl.NumberFormat(navigator.language);
} catch {
  Object.defineProperty(navigator, "language", { value: "en", configurable: true });
}

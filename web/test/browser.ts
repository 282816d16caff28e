// What modules of the page touch when they are loaded, for tests that run without a browser.
const none = { matches: false, addEventListener: () => undefined };
Object.assign(globalThis, {
  innerHeight: 800,
  matchMedia: () => none,
  document: { documentElement: { dataset: {} }, createElement: () => ({ getContext: () => null }) },
});

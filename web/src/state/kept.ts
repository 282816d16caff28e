/** What a browser keeps for the next time; it may refuse to, which is no fault. */
export function kept(key: string): string | null {
  try {
    return localStorage.getItem(`dctv.${key}`);
  } catch {
    return null;
  }
}

export function keep(key: string, value: string): void {
  try {
    localStorage.setItem(`dctv.${key}`, value);
  } catch {
    // A browser that keeps nothing shows the page all the same.
  }
}

/** How long the last frames took to make, in ms: the developer's overlay and measurements read it. */
class FrameTimes {
  private readonly last = new Float64Array(240);
  private count = 0;

  add(milliseconds: number): void {
    this.last[this.count++ % this.last.length] = milliseconds;
  }

  /** The time that a share of the last frames did not exceed. */
  quantile(share: number): number {
    const sorted = this.last.slice(0, Math.min(this.count, this.last.length)).sort();
    return sorted[Math.min(Math.floor(sorted.length * share), sorted.length - 1)] ?? 0;
  }

  get frames(): number {
    return this.count;
  }
}

export const frameTimes = new FrameTimes();

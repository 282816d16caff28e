/** Rectangles by colour: a canvas draws many of one colour much faster than many of changing colours. */
export class Rectangles {
  private readonly data: Float32Array[] = [];
  private readonly used: number[] = [];

  constructor(private readonly colours: number) {
    for (let colour = 0; colour < colours; colour++) {
      this.data.push(new Float32Array(256));
      this.used.push(0);
    }
  }

  clear(): void {
    this.used.fill(0);
  }

  add(colour: number, x: number, y: number, width: number, height: number): void {
    let data = this.data[colour]!;
    const at = this.used[colour]!;
    if (at + 4 > data.length) {
      const larger = new Float32Array(data.length * 2);
      larger.set(data);
      this.data[colour] = data = larger;
    }
    data[at] = x;
    data[at + 1] = y;
    data[at + 2] = width;
    data[at + 3] = height;
    this.used[colour] = at + 4;
  }

  /** Makes the rectangle that was added last to a colour reach to `right`. */
  widen(colour: number, right: number): void {
    const at = this.used[colour]! - 4;
    const data = this.data[colour]!;
    data[at + 2] = right - data[at]!;
  }

  get count(): number {
    return this.used.reduce((sum, used) => sum + used, 0) / 4;
  }

  draw(context: CanvasRenderingContext2D, colourOf: (colour: number) => string): void {
    for (let colour = 0; colour < this.colours; colour++) {
      const used = this.used[colour]!;
      if (!used) continue;
      const data = this.data[colour]!;
      context.fillStyle = colourOf(colour);
      for (let at = 0; at < used; at += 4) context.fillRect(data[at]!, data[at + 1]!, data[at + 2]!, data[at + 3]!);
    }
  }
}

/** Colours of palettes as one number a pixel, as canvases keep them: red first in memory. */
export function pixelOf(colour: string): number {
  const red = parseInt(colour.slice(1, 3), 16);
  const green = parseInt(colour.slice(3, 5), 16);
  const blue = parseInt(colour.slice(5, 7), 16);
  return LITTLE ? ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0 : ((red << 24) | (green << 16) | (blue << 8) | 255) >>> 0;
}

const LITTLE = new Uint8Array(new Uint32Array([1]).buffer)[0] === 1;

/**
 * A picture that is written line by line: all of a lane's height looks the same, so one line is made and copied. That
 * costs a few times less than as many rectangles on a canvas that no graphics processor draws.
 */
export class Pixels {
  image: ImageData;
  private data: Uint32Array;

  constructor() {
    this.image = new ImageData(1, 1);
    this.data = new Uint32Array(this.image.data.buffer);
  }

  resize(width: number, height: number): void {
    if (this.image.width === width && this.image.height === height) return;
    this.image = new ImageData(width, height);
    this.data = new Uint32Array(this.image.data.buffer);
  }

  /** Copies a line to all rows from `top` to `bottom`, of which those outside of the picture are left out. */
  copy(line: Uint32Array, top: number, bottom: number): void {
    const { width, height } = this.image;
    const last = Math.min(bottom, height);
    for (let y = Math.max(top, 0); y < last; y++) this.data.set(line, y * width);
  }
}

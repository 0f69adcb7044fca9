import { crc32, deflateSync, inflateSync } from 'node:zlib';

// Pictures of pages have few colours: a palette halves their size without a visible difference.

const SIGNATURE = Buffer.from('89504e470d0a1a0a', 'hex');
const MOST_COLOURS = 256;

interface Chunk {
  type: string;
  data: Buffer;
}

function* readChunks(png: Buffer): Generator<Chunk> {
  for (let at = SIGNATURE.length; at < png.length; ) {
    const length = png.readUInt32BE(at);
    yield {
      type: png.toString('latin1', at + 4, at + 8),
      data: png.subarray(at + 8, at + 8 + length),
    };
    at += length + 12;
  }
}

function writeChunk({ type, data }: Chunk): Buffer {
  const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(data.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}

function predict(left: number, up: number, corner: number): number {
  const [byLeft, byUp, byCorner] = [up - corner, left - corner, left + up - 2 * corner].map(Math.abs) as [
    number,
    number,
    number,
  ];
  if (byLeft <= byUp && byLeft <= byCorner) return left;
  return byUp <= byCorner ? up : corner;
}

/** Removes the PNG filters (section 9) from the rows. */
function unfilter(rows: Buffer, width: number, height: number, bytes: number): Buffer {
  const line = width * bytes;
  const pixels = Buffer.alloc(line * height);
  for (let row = 0; row < height; row += 1) {
    const filter = rows[row * (line + 1)]!;
    for (let at = 0; at < line; at += 1) {
      const here = row * line + at;
      const left = at >= bytes ? pixels[here - bytes]! : 0;
      const up = row > 0 ? pixels[here - line]! : 0;
      const corner = at >= bytes && row > 0 ? pixels[here - line - bytes]! : 0;
      const added = [0, left, up, (left + up) >> 1, predict(left, up, corner)][filter]!;
      pixels[here] = rows[row * (line + 1) + 1 + at]! + added;
    }
  }
  return pixels;
}

/** Returns the nearest colour in a palette. */
function findNearest(colour: number, palette: readonly number[]): number {
  const channel = (of: number, shift: number): number => (of >> shift) & 0xff;
  let best = 0;
  let least = Number.POSITIVE_INFINITY;
  for (const [index, other] of palette.entries()) {
    const far = [16, 8, 0].reduce(
      (sum, shift) => sum + (channel(colour, shift) - channel(other, shift)) ** 2,
      0,
    );
    if (far < least) [best, least] = [index, far];
  }
  return best;
}

/** Reduces a picture with 8 bits per channel and no transparency to its 256 most frequent colours. */
export function makeSmallPicture(png: Buffer): Buffer {
  const chunks = [...readChunks(png)];
  const head = Buffer.from(chunks[0]!.data);
  const [width, height] = [head.readUInt32BE(0), head.readUInt32BE(4)];
  const bytes = head[9] === 6 ? 4 : 3;
  const data = Buffer.concat(chunks.filter(({ type }) => type === 'IDAT').map((chunk) => chunk.data));
  const pixels = unfilter(inflateSync(data), width, height, bytes);
  const colourAt = (index: number): number => pixels.readUIntBE(index * bytes, 3);
  const counts = new Map<number, number>();
  for (let index = 0; index < width * height; index += 1)
    counts.set(colourAt(index), (counts.get(colourAt(index)) ?? 0) + 1);
  const palette = [...counts]
    .sort(([, one], [, other]) => other - one)
    .slice(0, MOST_COLOURS)
    .map(([colour]) => colour);
  const places = new Map([...counts.keys()].map((colour) => [colour, findNearest(colour, palette)]));
  // Each row starts with its filter; 0 is none.
  const rows = Buffer.alloc((width + 1) * height);
  for (let index = 0; index < width * height; index += 1)
    rows[index + Math.floor(index / width) + 1] = places.get(colourAt(index))!;
  const colours = Buffer.alloc(palette.length * 3);
  for (const [index, colour] of palette.entries()) colours.writeUIntBE(colour, index * 3, 3);
  head[9] = 3;
  return Buffer.concat([
    SIGNATURE,
    writeChunk({ type: 'IHDR', data: head }),
    writeChunk({ type: 'PLTE', data: colours }),
    writeChunk({ type: 'IDAT', data: deflateSync(rows, { level: 9 }) }),
    writeChunk({ type: 'IEND', data: Buffer.alloc(0) }),
  ]);
}

import { listLongStrings } from '../json-members.ts';
import { estimateTokens } from '../tokens.ts';

/** Maximum cost of a picture: services scale larger ones down. */
const MOST_PICTURE_TOKENS = 1600;
const PIXELS_PER_TOKEN = 750;
/** Cost of documents and sound in base64: a page of text and its picture, or some seconds. */
const MEDIA_BYTES_PER_TOKEN = 50;

/** Shorter texts are counted by their bytes. */
const LEAST_MEDIA_BYTES = 512;
/** The size of a picture is found within this many bytes, unless a camera put a preview before it. */
const HEAD_BYTES = 128 * 1024;

/** Strings next to media in each protocol; strings with a rare first letter are found fast. */
const MARKS = ['base64', '_audio"', 'Data"', '_data"'];

/**
 * Estimates the prompt tokens of a request: by its bytes, but pictures by their pixels, because compression does not
 * affect their cost.
 */
export function estimatePrompt(body: Buffer): number {
  if (body.length < LEAST_MEDIA_BYTES || !MARKS.some((mark) => body.includes(mark)))
    return estimateTokens(body.length);
  let bytes = body.length;
  let tokens = 0;
  for (const { start, end } of listLongStrings(body, 0, LEAST_MEDIA_BYTES)) {
    const found = estimateMedia(body.subarray(start + 1, end - 1));
    if (found === null) continue;
    bytes -= end - start;
    tokens += found;
  }
  return tokens + estimateTokens(bytes);
}

const DATA_URL = /^data:([a-z]+)[^,]{0,200};base64,/i;
const PICTURE = /^(?:iVBORw0KGgo|\/9j\/|R0lGOD|UklGR|Qk[0-9A-Za-z]|AAAA[A-Za-z0-9+/]{4}ZnR5c)/;
const MEDIA = /^(?:JVBERi0|UklGR|SUQz|\/\/[uvs]|T2dnUw|ZkxhQ)/;
const IS_BASE64 = /^[A-Za-z0-9+/=_-]+$/;

/** Returns the tokens of a base64 text; null if it is not one. */
function estimateMedia(text: Buffer): number | null {
  const head = text.toString('latin1', 0, 256).replaceAll('\\/', '/');
  const [prefix = '', kind = ''] = DATA_URL.exec(head) ?? [];
  const content = head.slice(prefix.length);
  if (!IS_BASE64.test(content)) return null;
  if (kind.toLowerCase() !== 'image' && !PICTURE.test(content) && !MEDIA.test(content) && prefix === '')
    return null;
  const isPicture = kind.toLowerCase() === 'image' || PICTURE.test(content);
  // Sound may start with the same bytes as a picture.
  if (
    !isPicture ||
    (content.startsWith('UklGR') && Buffer.from(content.slice(0, 16), 'base64').includes('WAVE'))
  )
    return Math.ceil(text.length / MEDIA_BYTES_PER_TOKEN);
  const encoded = text.toString('latin1', prefix.length, HEAD_BYTES).replaceAll('\\/', '/');
  return countPicture(Buffer.from(encoded, 'base64'));
}

function countPicture(bytes: Buffer): number {
  const size = readPictureSize(bytes);
  if (size === null) return MOST_PICTURE_TOKENS;
  return Math.min(MOST_PICTURE_TOKENS, Math.ceil((size.width * size.height) / PIXELS_PER_TOKEN));
}

/** Reads the pixel size of a picture from its start; null if not found. */
function readPictureSize(bytes: Buffer): { width: number; height: number } | null {
  try {
    const mark = bytes.toString('latin1', 0, 4);
    if (mark === '\x89PNG') return { width: bytes.readUInt32BE(16), height: bytes.readUInt32BE(20) };
    if (mark === 'GIF8') return { width: bytes.readUInt16LE(6), height: bytes.readUInt16LE(8) };
    if (mark === 'RIFF') return readWebpSize(bytes);
    return bytes[0] === 0xff && bytes[1] === 0xd8 ? readJpegSize(bytes) : null;
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function readWebpSize(bytes: Buffer): { width: number; height: number } | null {
  switch (bytes.toString('latin1', 12, 16)) {
    case 'VP8 ':
      return { width: bytes.readUInt16LE(26) & 0x3fff, height: bytes.readUInt16LE(28) & 0x3fff };
    case 'VP8L': {
      const bits = bytes.readUInt32LE(21);
      return { width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
    }
    case 'VP8X':
      return { width: bytes.readUIntLE(24, 3) + 1, height: bytes.readUIntLE(27, 3) + 1 };
    default:
      return null;
  }
}

/** Segments of a frame; other segments of that range hold tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function readJpegSize(bytes: Buffer): { width: number; height: number } | null {
  for (let at = 2; bytes.readUInt8(at) === 0xff; ) {
    const marker = bytes.readUInt8(at + 1);
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // A padding byte.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

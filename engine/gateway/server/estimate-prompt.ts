import { estimateTokens } from '../tokens.ts';
import { listLongStrings } from './json-members.ts';

/** What a picture takes at most: larger ones are made smaller by the services. */
const MOST_PICTURE_TOKENS = 1600;
const PIXELS_PER_TOKEN = 750;
/** Of documents and sound, in base64: a page of text and a picture of it, or some seconds. */
const MEDIA_BYTES_PER_TOKEN = 50;

/** Shorter texts count by their bytes, whatever they are. */
const LEAST_MEDIA_BYTES = 512;
/** In so much of a picture its size is found, unless a camera has put a preview before it. */
const HEAD_BYTES = 128 * 1024;

/** What stands beside media in each protocol; words whose first letter is rare are found fast. */
const MARKS = ['base64', '_audio"', 'Data"', '_data"'];

/**
 * Estimates the tokens of a request's prompt: by its bytes, but pictures by their pixels. What a picture takes has nothing to do with
 * how well it is compressed.
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

/** The tokens of a text in base64; null for a text that is none. */
function estimateMedia(text: Buffer): number | null {
  const head = text.toString('latin1', 0, 256).replaceAll('\\/', '/');
  const [prefix = '', kind = ''] = DATA_URL.exec(head) ?? [];
  const content = head.slice(prefix.length);
  if (!IS_BASE64.test(content)) return null;
  if (kind.toLowerCase() !== 'image' && !PICTURE.test(content) && !MEDIA.test(content) && prefix === '')
    return null;
  const isPicture = kind.toLowerCase() === 'image' || PICTURE.test(content);
  // Sound may have the same beginning as a picture.
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

/** Reads the pixels of a picture from its beginning; null where they are not found. */
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

/** Segments of a frame; the others of that range hold tables. */
const isFrame = (marker: number): boolean =>
  marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

function readJpegSize(bytes: Buffer): { width: number; height: number } | null {
  for (let at = 2; bytes.readUInt8(at) === 0xff; ) {
    const marker = bytes.readUInt8(at + 1);
    if (isFrame(marker)) return { width: bytes.readUInt16BE(at + 7), height: bytes.readUInt16BE(at + 5) };
    // A byte that fills up.
    at += marker === 0xff ? 1 : 2 + bytes.readUInt16BE(at + 2);
  }
  return null;
}

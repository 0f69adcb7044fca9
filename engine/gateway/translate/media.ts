import type { MediaPart, TranslatedExchange } from './conversation.ts';
import { lookUp } from './fields.ts';
import { FIELD_NAMES, refuseField } from './refusal.ts';

export const isImage = ({ mediaType }: MediaPart): boolean => mediaType.startsWith('image/');
export const isAudio = ({ mediaType }: MediaPart): boolean => mediaType.startsWith('audio/');

/** Aliases of media types. */
const SAME_TYPES: Readonly<Record<string, string>> = {
  'image/jpg': 'image/jpeg',
  'image/pjpeg': 'image/jpeg',
  'image/x-png': 'image/png',
};

/** The base64 start of each image type: programs derive the type from the file name, and providers refuse a wrong one. */
const BEGINNINGS: readonly (readonly [start: string, mediaType: string])[] = [
  ['iVBORw0KGgo', 'image/png'],
  ['/9j/', 'image/jpeg'],
  ['R0lGOD', 'image/gif'],
  ['UklGR', 'image/webp'],
];

/** Returns an image, a document or a sound, with a type name that providers know. */
export function makeMedia(
  mediaType: string,
  source: MediaPart['source'],
  { name = null, detail = null }: Partial<Pick<MediaPart, 'name' | 'detail'>> = {},
): MediaPart {
  const lower = mediaType.trim().toLowerCase();
  const known = lookUp(SAME_TYPES, lower) ?? lower;
  const found =
    'data' in source && known.startsWith('image/')
      ? BEGINNINGS.find(([start]) => source.data.startsWith(start))?.[1]
      : undefined;
  return { kind: 'media', mediaType: found ?? known, source, name, detail };
}

const TYPES: Readonly<Record<string, string>> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  pdf: 'application/pdf',
};

/** Returns the media type that the end of an address suggests. */
export function guessMediaType(url: string, otherwise: string): string {
  const extension = /\.([a-zA-Z0-9]+)(?:[?#]|$)/.exec(url)?.[1] ?? '';
  return lookUp(TYPES, extension.toLowerCase()) ?? otherwise;
}

/** Reads an address, or the content itself if it starts with `data:`. Throws `fields_invalid` if it is not base64. */
export function readMediaUrl(
  url: string,
  {
    field,
    otherwise,
    name = null,
    detail = null,
  }: { field: string; otherwise: string; name?: string | null; detail?: string | null },
): MediaPart {
  if (!url.startsWith('data:')) return makeMedia(guessMediaType(url, otherwise), { url }, { name, detail });
  const comma = url.indexOf(',');
  const [mediaType = '', ...parameters] = url.slice('data:'.length, comma).split(';');
  if (comma < 0 || !parameters.includes('base64')) throw refuseField(field, 'a data URL must be in base64');
  return makeMedia(mediaType || otherwise, { data: url.slice(comma + 1) }, { name, detail });
}

/** Returns the content as a data address. */
export const formatMediaUrl = ({ source, mediaType }: MediaPart): string =>
  'url' in source ? source.url : `data:${mediaType};base64,${source.data}`;

/** Throws for media that the provider's protocol does not support. */
export const refuseMedia = ({ mediaType, source }: MediaPart, { from, to }: TranslatedExchange): never => {
  const how = 'url' in source ? 'by its address' : 'in the request';
  throw refuseField(
    FIELD_NAMES[from].content,
    `${mediaType} ${how} cannot be given to a provider that speaks ${to}`,
  );
};

import { z } from 'zod';

/** Maximum bytes of one text, raw and as JSON, in which a control character takes six: a line of the socket contains it twice. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_ESCAPED = 3 * MOST_BYTES;

/** A text to crush or store. */
export const longText = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= MOST_BYTES, `is longer than ${MOST_BYTES} bytes`)
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= MOST_ESCAPED,
    `has too many control characters: as JSON it is longer than ${MOST_ESCAPED} bytes`,
  );

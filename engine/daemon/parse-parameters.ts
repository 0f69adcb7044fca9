import type { z } from 'zod';
import { fieldsInvalid } from '../core/base/fields-invalid.ts';

/** Parses the parameters of a call of the socket. Throws `fields_invalid`. */
export function parseParameters<I extends z.ZodType>(schema: I, params: unknown): z.infer<I> {
  const parsed = schema.safeParse(params ?? {});
  if (!parsed.success) throw fieldsInvalid(parsed.error);
  return parsed.data;
}

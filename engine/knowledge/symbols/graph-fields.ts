import { z } from 'zod';
import { UNLISTED } from '../../core/api/tool.ts';
import { sayLack, sayState, type WireState } from './wire.ts';

// The fields that several tools of the code graph have.

export const sessionField = z.string().min(1).max(200).optional().describe('Answer from its worktree.');
export const symbolField = z.string().min(1).max(1000).describe('id, name, Class.method or file:name.');
export const limitField = z.int().min(1).max(1000).optional().meta(UNLISTED);
export const listField = z.array(z.unknown());
export const quietField = z.unknown().meta(UNLISTED);
export const exactField = z.string().nullable().meta(UNLISTED);
export const stateFields = {
  empty: z.string().nullable(),
  note: z.string().nullable(),
  candidates: z.array(z.string()),
};

/** Creates the text of an answer: its own lines, then its state. */
export function sayWith<T extends WireState & { exact?: string | null }>(
  lines: (result: T) => string[],
): (result: T) => string {
  return (result) => [...lines(result), ...sayState(result), ...sayLack(result.exact ?? null)].join('\n');
}

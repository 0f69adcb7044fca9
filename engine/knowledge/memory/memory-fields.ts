import { z } from 'zod';
import { UNLISTED } from '../../core/api/tool.ts';

// The fields that several operations of the memory have.

export const boundedText = (most: number) =>
  z.string().refine((text) => text.length <= most, `is longer than ${most} characters`);
export const filledText = (most: number) =>
  boundedText(most).refine((text) => text.trim() !== '', 'must contain text');
export const typeField = z
  .string()
  .max(40)
  .regex(/^[a-z][a-z0-9_-]*$/, 'expected a lower-case word')
  .optional()
  .describe('decision, convention, fact, gotcha, procedure, preference, todo or your own type');

export const momentField = z
  .union([z.iso.datetime({ offset: true }), z.iso.date()])
  .transform((text) => Date.parse(text))
  .optional()
  .meta(UNLISTED);

export const orderField = z.enum(['relevance', 'newest', 'oldest']).optional().meta(UNLISTED);
export type RecallOrder = z.output<typeof orderField>;

export const splitTags = (tags: string | undefined): string[] =>
  (tags ?? '')
    .split(/[,\n]/)
    .map((tag) => tag.trim())
    .filter(Boolean);

/**
 * The least share of a question, by the rarity of its words, that a memory about it has. Of the questions of the labelled
 * sets that share a word with their memory 2 % are below it, and 83 % of those to the memories of another set.
 */
export const LEAST_SHARE = 0.4;

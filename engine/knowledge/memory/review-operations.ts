import { z } from 'zod';
import { cursor, limitRows } from '../../core/api/cursor.ts';
import { by, operation } from '../../core/api/operation.ts';
import type { Memories } from './index.ts';
import { boundedText, filledText, splitTags, typeField } from './memory-fields.ts';
import { LONGEST_TEXT, LONGEST_TITLE } from './rows.ts';

/** Creates the operations with which a person decides about memories. */
export const reviewOperations = (memory: Memories) => [
  operation({
    name: 'memory.review',
    about: 'Memories that enter no brief until a person keeps them, oldest first.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ limit: limitRows(100_000, 100), cursor }),
    run: async (input) => (await memory.open()).store.listUnreviewed(input),
  }),
  operation({
    name: 'memory.count_review',
    about: 'The number of memories that wait for a person.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({}),
    run: async () => (await memory.open()).store.countUnreviewed(),
  }),
  operation({
    name: 'memory.keep',
    about:
      'Keep a memory that waits for a person, or that a newer one may replace: it is true and may enter briefs.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({ id: z.string().min(1) }),
    async run(input, caller, call) {
      const { store } = await memory.open();
      return call.finish(() => store.keep(input.id, by(caller)));
    },
  }),
  operation({
    name: 'memory.settle',
    about: 'Let one memory supersede all others of its type and title.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({ id: z.string().min(1) }),
    async run(input, caller, call) {
      const { store } = await memory.open();
      return call.finish(() => store.settle(input.id, by(caller)));
    },
  }),
  operation({
    name: 'memory.edit',
    about: 'Replace a memory with a new wording; the old one is superseded.',
    seat: 'chair',
    changes: true,
    input: z.strictObject({
      id: z.string().min(1),
      text: filledText(LONGEST_TEXT).optional(),
      title: filledText(LONGEST_TITLE).optional(),
      type: typeField,
      tags: boundedText(1000).optional(),
    }),
    async run({ id, tags, ...changes }, caller, call) {
      const { store } = await memory.open();
      const wanted = { ...changes, ...(tags === undefined ? {} : { tags: splitTags(tags) }) };
      return call.finish(() => store.edit(id, wanted, memory.authorOf(caller), by(caller)));
    },
  }),
];

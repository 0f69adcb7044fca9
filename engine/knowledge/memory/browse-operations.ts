import { z } from 'zod';
import { limitRows } from '../../core/api/cursor.ts';
import { operation } from '../../core/api/operation.ts';
import { SvcError } from '../../core/base/errors.ts';
import type { Memories } from './index.ts';
import { typeField } from './memory-fields.ts';
import type { Memory } from './rows.ts';

/** Maximum size in a list for people, who may edit memories that they see in full. */
const BROWSED_TEXT = 8000;
const MOST_AGAINST = 8;

/** Creates the operations with which a person reads memories, in any state and with what contradicts them. */
export const browseOperations = (memory: Memories) => [
  operation({
    name: 'memory.show',
    about: 'One memory in full, in any state.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ id: z.string().min(1) }),
    run: async (input) => (await memory.open()).store.resolve(input.id),
  }),
  operation({
    name: 'memory.browse',
    about:
      'Memories with their contradictions, the ones that wait for a person, newest first or by relevance to a query, and what the last worker received of them.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ limit: limitRows(500, 200), query: z.string().optional(), type: typeField }),
    async run(input) {
      const { store, recall } = await memory.open();
      const query = input.query?.trim() ?? '';
      const found =
        query === ''
          ? store.list(input)
          : (await recall(query, { limit: input.limit, type: input.type })).map((each) => each.memory);
      const brief = store.findBrief();
      return {
        memories: found.map((each) => ({
          ...cutText(each),
          isInBrief: brief?.ids.includes(each.id) ?? false,
          against: store.listAgainst(each).slice(0, MOST_AGAINST).map(cutText),
        })),
        active: store.countActive(),
        unreviewed: store.countUnreviewed(),
        conflicts: store.conflicts().length,
        brief,
      };
    },
  }),
  operation({
    name: 'memory.brief',
    about:
      'The memories that a worker received when its run started, and their approximate tokens; by default of the last worker.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ session: z.string().min(1).optional() }),
    async run(input) {
      const { store } = await memory.open();
      const brief = store.findBrief(input.session);
      if (brief === null) throw new SvcError('not_found', 'no worker has received any yet');
      return { ...brief, memories: brief.ids.map((id) => cutText(store.resolve(id))) };
    },
  }),
];

/** Returns a row of a list. */
const cutText = (each: Memory): Memory & { textChars: number } => ({
  ...each,
  textChars: each.text.length,
  text: each.text.length > BROWSED_TEXT ? each.text.slice(0, BROWSED_TEXT).toWellFormed() : each.text,
});

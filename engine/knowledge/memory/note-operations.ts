import { z } from 'zod';
import { by, type Caller } from '../../core/api/operation.ts';
import { tool, UNLISTED } from '../../core/api/tool.ts';
import { SvcError } from '../../core/base/errors.ts';
import { formatCount } from '../../core/base/text.ts';
import type { Memories, OpenMemory } from './index.ts';
import { boundedText, filledText, splitTags, typeField } from './memory-fields.ts';
import { LONGEST_TEXT, LONGEST_TITLE } from './rows.ts';

/** Creates the tools that store and forget memories. */
export const noteOperations = (memory: Memories) => [
  tool({
    name: 'memory.forget',
    about:
      'Forget a memory that is wrong or no longer true. It is no longer found; a person can still read it.',
    seat: 'any',
    changes: true,
    destructive: true,
    idempotent: true,
    input: z.strictObject({ id: z.string().describe('Its id.') }),
    output: z.object({ id: z.string(), state: z.string() }),
    say: ({ id, state }) => `${id} is ${state}`,
    async run(input, caller, call) {
      const opened = await memory.open();
      checkMayForget(memory, opened, input.id, caller);
      return call.finish(() => {
        const { id, state } = opened.store.forget(input.id, by(caller));
        return { id, state };
      });
    },
  }),
  tool({
    name: 'memory.remember',
    about:
      'Store what later sessions need: the reason for a decision, a trap, how something is done. No secrets. Returns conflicts with memories of the same title.',
    seat: 'any',
    changes: true,
    idempotent: true,
    input: z.strictObject({
      text: filledText(LONGEST_TEXT).describe('One fact, with its reason.'),
      source: boundedText(1000).optional().describe('Its source.'),
      tags: boundedText(1000).optional().describe('Separated by commas.'),
      title: boundedText(LONGEST_TITLE).optional().describe('Default: first line of the text.'),
      type: typeField,
    }),
    output: z.looseObject({
      id: z.string(),
      conflicts: z.array(z.string()),
      redacted: z.array(z.string()),
      replaces: z.array(z.string()).optional().meta(UNLISTED),
    }),
    say: sayRemembered,
    async run(input, caller, call) {
      const { store } = await memory.open();
      const wanted = { ...input, tags: splitTags(input.tags) };
      return call.finish(() => answerRemembered(store.remember(wanted, memory.authorOf(caller), by(caller))));
    },
  }),
  tool({
    name: 'memory.sweep',
    about: 'Expire memories that are older than memory.retention_days of their type.',
    seat: 'any',
    changes: true,
    idempotent: true,
    input: z.strictObject({}),
    output: z.object({ expired: z.array(z.string()) }),
    say: ({ expired }) => `${formatCount(expired.length, 'memory has', 'memories have')} expired`,
    async run(_input, caller, call) {
      const { store } = await memory.open();
      return call.finish(() => ({ expired: store.sweep(by(caller)) }));
    },
  }),
];

function checkMayForget(memory: Memories, { store }: OpenMemory, id: string, caller: Caller): void {
  const { unreviewed, sessionId } = memory.authorOf(caller);
  if (unreviewed === null) return;
  const found = store.resolve(id);
  if (found.sessionId === sessionId) return;
  throw new SvcError('holder_mismatch', `${found.id} was not stored by ${sessionId ?? 'this session'}`, {
    hint: 'remember the correct text instead; a person decides between the two',
  });
}

const answerRemembered = (done: ReturnType<OpenMemory['store']['remember']>) => ({
  id: done.memory.id,
  is_new: done.isNew,
  conflicts: done.conflicts,
  redacted: done.redacted,
  ...(done.replaces.length === 0 ? {} : { replaces: done.replaces }),
  ...(done.memory.unreviewed === null ? {} : { unreviewed: done.memory.unreviewed }),
});

function sayRemembered(
  done: Record<string, unknown> & {
    id: string;
    conflicts: string[];
    redacted: string[];
    replaces?: string[];
  },
): string {
  return [
    done.is_new === false ? `${done.id} already has this text` : `remembered as ${done.id}`,
    ...(done.redacted.length === 0 ? [] : [`left out of it: ${done.redacted.join(', ')}`]),
    ...(done.conflicts.length === 0
      ? []
      : [`different text under the same title: ${done.conflicts.join(', ')}`]),
    ...(done.replaces === undefined
      ? []
      : [`does this replace ${done.replaces.join(', ')}? Then memory_forget the old one`]),
    ...(done.unreviewed === undefined ? [] : ['it enters no brief until a person keeps it']),
  ].join('\n');
}

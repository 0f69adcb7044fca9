import { z } from 'zod';
import { cursor, limitRows } from '../../core/api/cursor.ts';
import { type Caller, operation } from '../../core/api/operation.ts';
import { tool, UNLISTED } from '../../core/api/tool.ts';
import { toPrintable } from '../../core/base/text.ts';
import { takeLines } from './chunks.ts';
import { crushAndStore, keepPlaced, placeText } from './crush-and-store.ts';
import type { StoredTexts } from './index.ts';
import { longText } from './long-text.ts';
import { shortenOperations } from './shorten.ts';
import type { StoredText, TextStore } from './store.ts';

const exitCode = z.int().min(0).max(255).optional().describe('Exit code of the command.').meta(UNLISTED);

const lineRange = z
  .string()
  .regex(/^\d{1,9}(?:-\d{1,9})?$/, 'expected a line or two, such as 120-180')
  .optional()
  .describe('Such as 120-180; default: all.');

/** Creates the operations of clients on stored texts. */
export const contextOperations = (deps: { texts: StoredTexts }) => [
  ...storeOperations(deps),
  ...findTextOperations(deps),
  ...countOperations(deps),
  ...shortenOperations(deps),
];

/** Creates the tools that store texts. */
const storeOperations = ({ texts }: { texts: StoredTexts }) => [
  tool({
    name: 'context.crush',
    about:
      'Omit repetition and success messages from a program’s output. Code, diffs and lists stay unchanged. Markers say how to get the rest.',
    seat: 'any',
    changes: true,
    idempotent: true,
    input: z.strictObject({ text: longText.describe('The output.') }),
    output: z.object({
      id: z.string().nullable(),
      text: z.string(),
      kind: z.string(),
      bytes_in: z.int(),
      bytes_out: z.int(),
    }),
    say: ({ text: left }) => left,
    async run(input, caller, call) {
      const { store } = await texts.open();
      const { id, crushed } = await crushAndStore(texts, input.text, {
        caller,
        write: call.begin,
        counted: ({ bytesIn, bytesOut }) => store.count(caller.sessionId, 'context_crush', bytesIn, bytesOut),
      });
      const { text, kind, bytesIn, bytesOut } = crushed;
      return { id, text, kind, bytes_in: bytesIn, bytes_out: bytesOut };
    },
  }),
  tool({
    name: 'context.externalize',
    about: 'Store a long text outside your context. Returns a stub: its id, size, kind, start and end.',
    seat: 'any',
    changes: true,
    idempotent: true,
    input: z.strictObject({ text: longText.describe('The whole text.'), exit_code: exitCode }),
    output: z.object({ id: z.string(), stub: z.string() }),
    say: ({ stub }) => stub,
    async run(input, caller, call) {
      const { store } = await texts.open();
      const [{ crush }, { composeStub, explainRetrieval, findExitCode }] = await Promise.all([
        import('./crush/index.ts'),
        import('./stub.ts'),
      ]);
      const { crushes, idleMs } = texts.settings();
      const placed = await placeText(texts, input.text);
      const named = (id: string) => crush(input.text, { whole: explainRetrieval(id) });
      const expected = store.nameText(placed.hash);
      const crushed = named(expected);
      const wanted = {
        ...placed,
        kind: crushed.kind,
        told: input.exit_code ?? null,
        found: findExitCode(input.text),
      };
      return keepPlaced(texts, placed, () =>
        call.finish(() => {
          const { id, bytes, lines, kind } = store.keep(wanted, texts.holderOf(caller));
          const exitCode = wanted.told ?? wanted.found;
          const whole = crushes ? (id === expected ? crushed : named(id)).text : input.text;
          const stub = composeStub({ id, bytes, lines, kind, exitCode, idleMs }, whole);
          store.count(caller.sessionId, 'context_externalize', bytes, Buffer.byteLength(stub));
          return { id, bytes, lines, kind, exit_code: exitCode, stub };
        }),
      );
    },
  }),
];

/** Creates the tools that find stored texts again. */
const findTextOperations = ({ texts }: { texts: StoredTexts }) => [
  tool({
    name: 'context.retrieve',
    about: 'Return a stored text by the id in its stub or marker, unchanged, or some of its lines.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ id: z.string().describe('Its id.'), lines: lineRange }),
    output: z.object({ id: z.string(), text: z.string() }),
    say: (found) => found.text,
    async run(input, caller) {
      const { store } = await texts.open();
      // An id is enough to read a text, so no one else may learn an id from a part of the text.
      const row = await texts.resolve(input.id.trim(), { isWhole: caller.seat !== 'chair' });
      const whole = await texts.read(row);
      const found = input.lines === undefined ? whole : takeRange(whole, input.lines);
      await texts.note(() => {
        store.use(row, texts.holderOf(caller));
        countReading(store, caller, 'context_retrieve', Buffer.byteLength(found));
      });
      return { id: row.id, text: found };
    },
  }),
  tool({
    name: 'context.search',
    about:
      'Find parts of stored texts by words, identifiers, paths, error codes. context_retrieve returns the surrounding text.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ limit: limitRows(50, 5), query: z.string().describe('Words of the text.') }),
    output: z.object({
      chunks: z.array(z.object({ id: z.string(), lines: z.string(), text: z.string() })),
    }),
    say: sayFound,
    async run(input, caller) {
      const { store, find } = await texts.open();
      await texts.importForwarded();
      const found = await find(input.query, { limit: input.limit, holder: scopeOf(texts, caller) });
      const chunks = found.chunks.map(({ id, firstLine, lastLine, text: part }) => ({
        id,
        lines: firstLine === lastLine ? `${firstLine}` : `${firstLine}-${lastLine}`,
        text: part,
      }));
      const bytes = chunks.reduce((sum, each) => sum + Buffer.byteLength(each.text), 0);
      await texts.note(() => {
        for (const number of found.texts) store.use({ number }, texts.holderOf(caller));
        countReading(store, caller, 'context_search', bytes);
      });
      return { chunks };
    },
  }),
];

/** Creates the operations that list and count stored texts. */
const countOperations = ({ texts }: { texts: StoredTexts }) => [
  operation({
    name: 'context.list',
    about: 'Stored texts that have not expired, newest first.',
    seat: 'any',
    changes: false,
    input: z.strictObject({ limit: limitRows(100_000, 50), cursor }),
    async run(input, caller): Promise<StoredText[]> {
      const { store } = await texts.open();
      await texts.importForwarded();
      return store.list(input, scopeOf(texts, caller));
    },
  }),
  operation({
    name: 'context.count',
    about: 'The number of stored texts that have not expired.',
    seat: 'any',
    changes: false,
    input: z.strictObject({}),
    run: async (_input, caller) => (await texts.open()).store.countListed(scopeOf(texts, caller)),
  }),
  operation({
    name: 'context.stats',
    about:
      'Bytes and estimated tokens that the context tools have kept out of contexts, by session and tool.',
    seat: 'trusted',
    changes: false,
    input: z.strictObject({ session: z.string().optional(), limit: limitRows(1000, 100) }),
    async run(input) {
      const { store } = await texts.open();
      const found = texts.savings.sumSavings(input.session ?? null, input.limit);
      return { ...found, stored: store.sumStored() };
    },
  }),
];

/** Returns the scope of a caller: the Chair finds all texts, others the texts that they or their task stored or read. */
const scopeOf = (texts: StoredTexts, caller: Caller): string | null =>
  caller.seat === 'chair' ? null : texts.holderOf(caller);

/** Counts a read, except by a person, because that text enters no context. */
function countReading(store: TextStore, { sessionId }: Caller, name: string, bytes: number): void {
  if (sessionId !== null) store.count(sessionId, name, 0, bytes);
}

function takeRange(whole: string, range: string): string {
  const [first = 1, last = first] = range.split('-').map(Number);
  return takeLines(whole, Math.max(1, first), last);
}

function sayFound({ chunks }: { chunks: readonly { id: string; lines: string; text: string }[] }): string {
  if (chunks.length === 0) return 'no stored text matches';
  return chunks
    .map((each) => `${each.id} lines ${each.lines}\n${toPrintable(each.text, { lines: true })}`)
    .join('\n\n');
}

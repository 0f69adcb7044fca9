import { z } from 'zod';
import { type Caller, operation } from '../../api/operation.ts';
import { tool } from '../../api/tool.ts';
import { toPrintable } from '../../base/text.ts';
import { countLines, takeLines } from './chunks.ts';
import type { StoredTexts } from './index.ts';
import type { NewText, StoredText, TextStore } from './store.ts';

/** Of one text, bytes; and as JSON, in which a control character takes six: a line of the socket holds it twice. */
const MOST_BYTES = 4 * 1024 * 1024;
const MOST_ESCAPED = 3 * MOST_BYTES;

const text = z
  .string()
  .refine((value) => Buffer.byteLength(value) <= MOST_BYTES, `is longer than ${MOST_BYTES} bytes`)
  .refine(
    (value) => Buffer.byteLength(JSON.stringify(value)) <= MOST_ESCAPED,
    `has too many control characters: as JSON it is longer than ${MOST_ESCAPED} bytes`,
  );
const exitCode = z.int().min(0).max(255).optional().describe('Of the command.').meta({ unlisted: true });
const limit = (most: number, usual: number) => z.int().min(1).max(most).default(usual);

const lineRange = z
  .string()
  .regex(/^\d{1,9}(?:-\d{1,9})?$/, 'expected a line or two, such as 120-180')
  .optional()
  .describe('Such as 120-180; all, when left out.');

/** What clients may ask of the texts that stand outside of contexts. */
export function contextOperations({ texts }: { texts: StoredTexts }) {
  /** A text as it is stored, with its file on the disk: a row never names one that is not there. */
  async function placeText(whole: string): Promise<Pick<NewText, 'hash' | 'bytes' | 'lines'>> {
    const { files } = await texts.open();
    const { hashBytes } = await import('./text-files.ts');
    const bytes = Buffer.from(whole);
    const hash = hashBytes(bytes);
    files.write(hash, bytes, whole);
    return { hash, bytes: bytes.length, lines: countLines(whole) };
  }

  /** What was placed for nothing is removed again. */
  async function keepPlaced<T>({ hash }: Pick<NewText, 'hash'>, work: () => Promise<T>): Promise<T> {
    try {
      return await work();
    } catch (error) {
      const { files, store } = await texts.open();
      if (!store.isKept(hash)) files.remove(hash);
      throw error;
    }
  }

  /** The Chair finds everything, others what they or their task have stored or read. */
  const scopeOf = (caller: Caller): string | null =>
    caller.seat === 'chair' ? null : texts.holderOf(caller);

  return [
    tool({
      name: 'context.crush',
      about:
        'Leave out of a program’s output what repeats or only says that all went well. Code, diffs and lists stay as they are. Markers say how to get the rest.',
      seat: 'any',
      changes: true,
      idempotent: true,
      input: z.strictObject({ text: text.describe('The output.') }),
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
        const [{ crush }, { explainRetrieval, findExitCode }, { hashBytes }] = await Promise.all([
          import('./crush/index.ts'),
          import('./stub.ts'),
          import('./text-files.ts'),
        ]);
        const isStored = texts.settings().stores;
        const hash = hashBytes(Buffer.from(input.text));
        const named = (id: string) =>
          crush(input.text, { whole: isStored ? explainRetrieval(id) : 'run the command again' });
        const id = store.nameText(hash);
        const crushed = named(id);
        const count = () => store.count(caller.sessionId, 'context_crush', crushed.bytesIn, crushed.bytesOut);
        const answer = (stored: string | null, { text: left, kind, bytesIn, bytesOut } = crushed) => ({
          id: stored,
          text: left,
          kind,
          bytes_in: bytesIn,
          bytes_out: bytesOut,
        });
        if (!isStored || crushed.omissions.length === 0) {
          await call.begin(count);
          return answer(null);
        }
        const placed = await placeText(input.text);
        const { kind } = crushed;
        const kept = await keepPlaced(placed, () =>
          call.begin(() => {
            count();
            const found = findExitCode(input.text);
            return store.keep({ ...placed, kind, told: null, found }, texts.holderOf(caller)).id;
          }),
        );
        // Another text with a hash that begins alike may have come first.
        return answer(kept, kept === id ? crushed : named(kept));
      },
    }),
    tool({
      name: 'context.externalize',
      about:
        'Store a long text outside of your context. Answers a stub: its id, size, kind, beginning and end.',
      seat: 'any',
      changes: true,
      idempotent: true,
      input: z.strictObject({ text: text.describe('All of it.'), exit_code: exitCode }),
      output: z.object({ id: z.string(), stub: z.string() }),
      say: ({ stub }) => stub,
      async run(input, caller, call) {
        const { store } = await texts.open();
        const [{ crush }, { composeStub, explainRetrieval, findExitCode }] = await Promise.all([
          import('./crush/index.ts'),
          import('./stub.ts'),
        ]);
        const { crushes, idleMs } = texts.settings();
        const placed = await placeText(input.text);
        const named = (id: string) => crush(input.text, { whole: explainRetrieval(id) });
        const expected = store.nameText(placed.hash);
        const crushed = named(expected);
        const wanted = {
          ...placed,
          kind: crushed.kind,
          told: input.exit_code ?? null,
          found: findExitCode(input.text),
        };
        return keepPlaced(placed, () =>
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
    tool({
      name: 'context.retrieve',
      about: 'A stored text by the id that its stub or marker has, to the last byte, or some of its lines.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ id: z.string().describe('Of the text.'), lines: lineRange }),
      output: z.object({ id: z.string(), text: z.string() }),
      say: (found) => found.text,
      async run(input, caller) {
        const { store } = await texts.open();
        // An id is all that somebody needs to read a text, so that nobody else is told of one by a part of it.
        const row = store.resolve(input.id.trim(), { isWhole: caller.seat !== 'chair' });
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
        'Find parts of stored texts by words, identifiers, paths, error codes. context_retrieve gives what is around them.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ limit: limit(50, 5), query: z.string().describe('What it says.') }),
      output: z.object({
        chunks: z.array(z.object({ id: z.string(), lines: z.string(), text: z.string() })),
      }),
      say: sayFound,
      async run(input, caller) {
        const { store, find } = await texts.open();
        const found = await find(input.query, { limit: input.limit, holder: scopeOf(caller) });
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
    operation({
      name: 'context.list',
      about: 'Stored texts that have not expired, last used first.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ limit: limit(1000, 50) }),
      async run(input, caller): Promise<StoredText[]> {
        return (await texts.open()).store.list(input.limit, scopeOf(caller));
      },
    }),
    operation({
      name: 'context.stats',
      about:
        'What the context tools have kept out of contexts, in bytes and estimated tokens, by session and tool.',
      seat: 'any',
      changes: false,
      input: z.strictObject({ session: z.string().optional(), limit: limit(1000, 100) }),
      async run(input) {
        return (await texts.open()).store.sumSavings(input.session ?? null, input.limit);
      },
    }),
  ];
}

/** What a person reads enters no context. */
function countReading(store: TextStore, { sessionId }: Caller, name: string, bytes: number): void {
  if (sessionId !== null) store.count(sessionId, name, 0, bytes);
}

function takeRange(whole: string, range: string): string {
  const [first = 1, last = first] = range.split('-').map(Number);
  return takeLines(whole, Math.max(1, first), last);
}

function sayFound({ chunks }: { chunks: readonly { id: string; lines: string; text: string }[] }): string {
  if (chunks.length === 0) return 'no stored text says so';
  return chunks
    .map((each) => `${each.id} lines ${each.lines}\n${toPrintable(each.text, { lines: true })}`)
    .join('\n\n');
}

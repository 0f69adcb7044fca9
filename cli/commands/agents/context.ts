import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatAge, toPrintable } from '../../../engine/core/base/text.ts';
import { crushing } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { definePageFlags, showPage } from '../../pages.ts';
import { formatFacts, formatRows } from '../../print.ts';

const KINDS = ['log', 'json', 'text'] as const;

const fileArg = [
  { name: 'file', about: 'file to read (standard input)', optional: true, completes: 'file' },
] as const;
const limitFlag = {
  limit: { type: 'number', short: 'n', value: 'count', about: 'maximum number of results' },
} as const;

const crushText = defineCommand({
  name: 'context crush',
  about: 'replace repetition in a program’s output with counted markers',
  args: fileArg,
  flags: {
    kind: {
      type: 'string',
      value: 'KIND',
      choices: KINDS,
      about:
        'treat the input as this kind instead of detecting it: log folds all repetition, json and text leave it alone',
    },
    whole: {
      type: 'string',
      value: 'TEXT',
      about: 'hint for getting the omitted text back; every marker ends with it',
    },
    store: { type: 'boolean', about: 'store the full text in the workspace: every marker ends with its id' },
    stats: { type: 'boolean', about: 'print the savings on standard error' },
  },
  examples: [
    'context crush < build.log',
    'context crush --stats build.log',
    'context crush --store build.log',
    'context crush --kind log --json',
  ],
  async run(context) {
    const bytes = await readInput(context);
    const { kind, whole, store, stats } = context.flags;
    if (store) {
      if (kind !== undefined || whole !== undefined || stats)
        throw new SvcError('usage', '--store cannot be combined with --kind, --whole or --stats');
      const client = await context.engine();
      const done = await client.call('context.crush', { text: decodeInput(bytes) });
      if (context.json) context.result(done, () => '');
      else context.stdout.write(done.text);
      return;
    }
    // Binary data is not changed: decoded as text, its bytes would differ.
    if (!isUtf8(bytes) && !context.json) {
      context.stdout.write(bytes);
      return;
    }
    const { crush } = await crushing();
    const result = crush(bytes.toString('utf8'), {
      ...(kind === undefined ? {} : { kind }),
      ...(whole === undefined ? {} : { whole: toOneLine(whole) }),
    });
    if (context.json) {
      context.result(
        {
          text: result.text,
          kind: result.kind,
          bytes_in: result.bytesIn,
          bytes_out: result.bytesOut,
          omissions: result.omissions,
        },
        () => '',
      );
      return;
    }
    context.stdout.write(result.text);
    if (stats) {
      const saved = result.bytesIn === 0 ? 0 : Math.round(100 - (100 * result.bytesOut) / result.bytesIn);
      context.note(`${result.kind}: ${result.bytesIn} bytes, now ${result.bytesOut} (${saved} % less)`);
      for (const { count, what, line } of result.omissions) context.note(`  line ${line}: ${count} ${what}`);
    }
  },
});

const put = defineCommand({
  name: 'context put',
  about: 'store a text outside the context, and print a stub with its id',
  args: fileArg,
  flags: { exitCode: { type: 'number', value: 'code', about: 'exit code of the command that printed it' } },
  examples: ['context put < build.log', 'context put build.log --exit-code 2'],
  async run(context) {
    const text = decodeInput(await readInput(context));
    const client = await context.engine();
    const done = await client.call('context.externalize', { text, exit_code: context.flags.exitCode });
    context.result(done, ({ stub }) => toPrintable(stub, { lines: true }));
  },
});

const get = defineCommand({
  name: 'context get',
  about: 'print a stored text, to the last byte',
  args: [{ name: 'id', about: 'id of the text, or a unique prefix' }],
  flags: { lines: { type: 'string', value: 'from-to', about: 'only these lines, such as 120-180' } },
  examples: ['context get c-4f9', 'context get c-4f9 --lines 120-180'],
  async run(context) {
    const client = await context.engine();
    const found = await client.call('context.retrieve', { id: context.arg(0), lines: context.flags.lines });
    if (context.json) context.result(found, () => '');
    else context.stdout.write(context.stdout.isTTY ? toPrintable(found.text, { lines: true }) : found.text);
  },
});

const search = defineCommand({
  name: 'context search',
  about: 'find parts of stored texts, best first',
  args: [{ name: 'words', about: 'words, identifiers, paths, error codes', rest: true }],
  flags: limitFlag,
  examples: ['context search ECONNREFUSED', 'context search failed migration -n 3'],
  async run(context) {
    const client = await context.engine();
    const { chunks } = await client.call('context.search', {
      query: context.args.join(' '),
      limit: context.flags.limit,
    });
    context.result(chunks, (found) =>
      found
        .map((each) => `${each.id} lines ${each.lines}\n${toPrintable(each.text, { lines: true })}`)
        .join('\n\n'),
    );
    if (chunks.length === 0) context.note('no stored text matches');
  },
});

const list = defineCommand({
  name: 'context list',
  about: 'stored texts, newest first',
  flags: definePageFlags(50),
  examples: ['context list'],
  async run(context) {
    const client = await context.engine();
    await showPage(context, {
      standard: 50,
      fetch: (part) => client.call('context.list', part),
      count: () => client.call('context.count', {}),
      getId: (each) => each.id,
      columns: [
        { head: 'id', value: (each) => each.id },
        { head: 'bytes', value: (each) => each.bytes, right: true },
        { head: 'lines', value: (each) => each.lines, right: true },
        { head: 'kind', value: (each) => each.kind },
        { head: 'exit', value: (each) => each.exit_code, right: true },
        { head: 'used', value: (each) => formatAge(each.used_at), right: true },
      ],
      empty: 'no text is stored',
    });
  },
});

const stats = defineCommand({
  name: 'context stats',
  about: 'show how much the context tools kept out of contexts',
  flags: { session: { type: 'string', value: 'id', about: 'only this session' }, ...limitFlag },
  examples: ['context stats', 'context stats --session s-4'],
  async run(context) {
    const { session, limit } = context.flags;
    const client = await context.engine();
    const found = await client.call('context.stats', { session, limit });
    const rows = await formatRows(
      found.savings,
      [
        { head: 'session', value: (each) => each.session },
        { head: 'tool', value: (each) => each.tool, flexible: true },
        { head: 'calls', value: (each) => each.calls, right: true },
        { head: 'tokens in', value: (each) => each.tokens_in, right: true },
        { head: 'tokens out', value: (each) => each.tokens_out, right: true },
        { head: 'bytes in', value: (each) => each.bytes_in, right: true },
        { head: 'bytes out', value: (each) => each.bytes_out, right: true },
      ],
      context.stdout,
    );
    context.result(found, ({ total, stored }) =>
      [
        rows,
        formatFacts([
          [
            'kept out',
            `about ${total.tokens_in - total.tokens_out} tokens (${total.bytes_in - total.bytes_out} bytes)`,
          ],
          ['stored', `${stored.texts} (${stored.bytes} bytes)`],
        ]),
      ]
        .filter((part) => part !== '')
        .join('\n'),
    );
  },
});

/** `svc context`: keeps the output of programs from filling an agent's context. */
export const contextCommands: readonly Command[] = [crushText, put, get, search, list, stats];

/** Throws `usage` for binary data. */
function decodeInput(bytes: Buffer): string {
  if (isUtf8(bytes)) return bytes.toString('utf8');
  throw new SvcError('usage', 'not text: some bytes are not valid UTF-8');
}

/** A marker is one line. */
const toOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

async function readInput({ args, cwd, stdin }: CommandContext): Promise<Buffer> {
  const file = args[0];
  if (file !== undefined && file !== '-') {
    try {
      return await readFile(resolve(cwd, file));
    } catch (cause) {
      throw new SvcError('not_found', `cannot read ${file}`, { cause });
    }
  }
  if (stdin.isTTY)
    throw new SvcError('usage', 'nothing to read: standard input is a terminal', {
      hint: 'name a file, or pipe one in: svc context crush < build.log',
    });
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}

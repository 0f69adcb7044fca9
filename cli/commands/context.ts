import { isUtf8 } from 'node:buffer';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { crushing, SvcError } from '../../engine/index.ts';
import { type Command, type Context, defineCommand } from '../command.ts';

const KINDS = ['log', 'json', 'text'] as const;

/** `svc context`: what keeps the output of programs from filling an agent's context. */
export const contextCommands: readonly Command[] = [
  defineCommand({
    name: 'context crush',
    about: 'leave out of a program’s output what repeats, with a counted marker in its place',
    args: [{ name: 'file', about: 'what to read; else standard input', optional: true, completes: 'file' }],
    flags: {
      kind: {
        type: 'string',
        value: 'KIND',
        choices: KINDS,
        about: 'take it for this instead of looking: log folds whatever repeats, text leaves it as it is',
      },
      whole: {
        type: 'string',
        value: 'TEXT',
        about: 'how to get back what was left out; every marker ends with it',
      },
      stats: { type: 'boolean', about: 'say on standard error what was saved' },
    },
    examples: [
      'context crush < build.log',
      'context crush --stats build.log',
      'context crush --kind log --json',
    ],
    async run(context) {
      const bytes = await readInput(context);
      const { kind, whole, stats } = context.flags;
      // What is no text is not touched: as text it would come out as other bytes.
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
        for (const { count, what, line } of result.omissions)
          context.note(`  line ${line}: ${count} ${what}`);
      }
    },
  }),
];

/** A marker is one line. */
const toOneLine = (text: string): string => text.replace(/\s+/g, ' ').trim();

async function readInput({ args, cwd, stdin }: Context): Promise<Buffer> {
  const file = args[0];
  if (file !== undefined && file !== '-') {
    try {
      return await readFile(resolve(cwd, file));
    } catch (cause) {
      throw new SvcError('not_found', `cannot read ${file}`, { cause });
    }
  }
  if (stdin.isTTY)
    throw new SvcError('usage', 'nothing to crush: standard input is a terminal', {
      hint: 'svc context crush < build.log',
    });
  const chunks: Buffer[] = [];
  for await (const chunk of stdin) chunks.push(Buffer.from(chunk as Buffer));
  return Buffer.concat(chunks);
}

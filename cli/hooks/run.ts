import { writeSync } from 'node:fs';
import { openForOneCall } from '../../engine/daemon/one-call.ts';
import type { HookEvent } from '../../engine/index.ts';
import { type HookToolOutput, readOutput, replaceOutput } from './outputs.ts';
import { SHAPES } from './shapes.ts';
import { readCall } from './tool-call.ts';
import type { ToolCallFields } from './tool-writes.ts';

// An agent waits for this at every tool call, and some treat any exit code except 0 as a refusal: errors on our side
// must not affect it, so the answer is then empty, and in time.

const BUDGET_MS = 2000;
const MAX_INPUT_BYTES = 8 * 1024 * 1024;
/** More than a handwritten patch has; the engine accepts no more. */
const MAX_PATHS = 1000;

/** Characters of a tool's input; the engine accepts no more. */
const MOST_CALL = 65_536;

const EVENTS: readonly string[] = [
  'pre-write',
  'post-tool',
  'pre-compact',
  'session-start',
] satisfies HookEvent[];

interface Look {
  deny: string | null;
  context: string[];
  wants_output: boolean;
}

/** The replacement of a long output, or a note about it. */
interface Shortened {
  text: string | null;
  note: string | null;
}

/** `svc hook <event> --agent <preset>`: never returns before the process ends, always with exit code 0. */
export async function runHook(words: readonly string[]): Promise<never> {
  const leaveQuietly = (): never => process.exit(0);
  for (const name of ['uncaughtException', 'unhandledRejection', 'SIGTERM', 'SIGINT', 'SIGHUP'])
    process.on(name, leaveQuietly);
  setTimeout(leaveQuietly, Math.max(0, BUDGET_MS - performance.now()));
  try {
    const answer = await answerHook(words);
    if (answer !== null) writeAnswer(typeof answer === 'string' ? answer : JSON.stringify(answer));
  } catch {
    // Stays silent.
  }
  return leaveQuietly();
}

async function answerHook(words: readonly string[]): Promise<object | string | null> {
  const event = words[0] as HookEvent;
  const agent = readAgent(words);
  const shape = Object.hasOwn(SHAPES, agent) ? SHAPES[agent] : undefined;
  if (shape === undefined || !EVENTS.includes(event)) return null;
  const carry = shape.context[event];
  if (carry === undefined && event !== 'pre-write') return null;

  // The engine identifies the caller while the agent's input is read.
  const opening = openForOneCall({ cwd: process.cwd(), env: process.env });
  opening.catch(() => undefined);
  const { tool, cwd, paths, writes, sent, planned, given } = readCall(await readInput(), process.cwd());
  const concerned = event === 'pre-write' && !writes ? [] : paths.slice(0, MAX_PATHS);
  if (carry === undefined && concerned.length === 0) return null;
  const engine = await opening;
  if (engine === null) return null;
  const output = event === 'post-tool' ? readOutput(agent, sent) : null;
  const look = (await engine.send('hook.look', {
    event,
    agent,
    cwd,
    paths: concerned,
    tool,
    writes: event === 'pre-write' && writes ? planned.slice(0, MAX_PATHS) : [],
    carries: carry !== undefined,
    ...(output === null ? {} : { output_bytes: Buffer.byteLength(output.text) }),
  })) as Look;
  const { deny, context } = look;
  if (deny !== null && event === 'pre-write') return shape.deny([deny, ...context].join('\n\n'));
  if (carry === undefined) return null;
  const shorter = output === null || !look.wants_output ? null : await shortenOutput(engine, output, given);
  if (shorter?.note) context.push(shorter.note);
  const said = context.length === 0 ? null : carry(context.join('\n\n'), sent);
  if (output === null || shorter === null || shorter.text === null) return said;
  return mergeAnswers(replaceOutput(agent, sent, shorter.text, output), said);
}

/** Null if it cannot be shortened: the agent gets it unchanged, with all other notes. */
async function shortenOutput(
  engine: { send(operation: string, input: object): Promise<unknown> },
  { text, exitCode, isReplaceable }: HookToolOutput,
  given: unknown,
): Promise<Shortened | null> {
  try {
    return (await engine.send('context.shorten', {
      text,
      is_replaceable: isReplaceable,
      ...(exitCode === null ? {} : { exit_code: exitCode }),
      tool_call: (JSON.stringify(given) ?? '').slice(0, MOST_CALL),
    })) as Shortened;
  } catch {
    return null;
  }
}

/** Joins two answers to one hook event; one may be missing. */
function mergeAnswers(one: object | null, other: object | string | null): object | string | null {
  if (one === null || typeof other === 'string') return one ?? other;
  const specific = 'hookSpecificOutput';
  const inner = {
    ...((one as ToolCallFields)[specific] as object),
    ...((other as ToolCallFields | null)?.[specific] as object),
  };
  return { ...one, ...other, ...(Object.keys(inner).length === 0 ? {} : { [specific]: inner }) };
}

/** Reads `--agent`; the default is the format that most agents share. */
function readAgent(words: readonly string[]): string {
  const at = words.indexOf('--agent');
  if (at !== -1) return words[at + 1] ?? '';
  return words.find((word) => word.startsWith('--agent='))?.slice('--agent='.length) ?? 'claude';
}

function readInput(): Promise<string> {
  return new Promise((resolve, reject) => {
    const parts: Buffer[] = [];
    let length = 0;
    process.stdin
      .on('data', (part: Buffer) => {
        length += part.length;
        if (length > MAX_INPUT_BYTES) reject(new Error('too long'));
        else parts.push(part);
      })
      .on('end', () => resolve(Buffer.concat(parts).toString('utf8')))
      .on('error', reject);
  });
}

function writeAnswer(text: string): void {
  const bytes = Buffer.from(`${text}\n`);
  for (let at = 0; at < bytes.length; ) at += writeSync(1, bytes, at);
}

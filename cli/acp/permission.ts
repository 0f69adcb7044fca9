import { randomUUID } from 'node:crypto';
import type {
  PermissionOption,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from '@agentclientprotocol/sdk';
import { SvcError } from '../../engine/core/base/errors.ts';
import { settleWithin } from '../../engine/core/base/settle-within.ts';
import { type AcpLine, acpHost } from '../../engine/index.ts';
import type { KeptLink } from '../link.ts';
import { clipText } from './failure.ts';
import { createPathCheck } from './path-check.ts';
import { type KnownCall, listCallPaths, type Transcript } from './transcript.ts';

export interface PermissionDeps {
  link: KeptLink;
  transcript: Transcript;
  print(line: AcpLine): void;
  /** The agent's name in a question. */
  agent(): string;
  cwd: string;
  /** Files that no agent changes without a person. */
  reserved: readonly string[];
  /** Aborted when the run is cancelled. */
  signal: AbortSignal;
}

interface Policy {
  permissions: string[];
  /** The folder that the worker may change; null for a folder that the engine does not know. */
  folder: string | null;
}

/** The longest time an ask can be open; the run itself ends before. */
const ASK_SEC = 86_400;
const LONGEST_CONTEXT = 20_000;
/** Without an engine the last known policy applies: workers continue without one. */
const POLICY_MS = 500;

/** Answers permission requests of an agent: from `agents.permissions`, or with the answer to an ask that is opened for it. */
export function createPermissions(deps: PermissionDeps) {
  const { link, transcript, print, cwd, reserved, signal } = deps;
  let known: Policy | null = null;
  let asked: Promise<Policy> | null = null;
  /** How long the engine has not answered. */
  let isLate = false;

  const callQuietly = () => ({ key: randomUUID(), signal, onProgress: () => undefined });

  async function readPolicy(): Promise<Policy> {
    asked ??= link
      .call('worker.permissions', {}, callQuietly())
      .then((told) => {
        known = told;
        isLate = false;
        return told;
      })
      .finally(() => {
        asked = null;
      });
    // Callers that continue with the earlier policy do not see this failure.
    asked.catch(() => undefined);
    if (known === null) return asked;
    const before = known;
    if (isLate) return before;
    const answer = await settleWithin(POLICY_MS, asked);
    isLate = answer === null;
    return answer ?? before;
  }

  async function isPermitted(call: KnownCall): Promise<boolean> {
    const [{ permissions, folder }, rules] = await Promise.all([readPolicy(), acpHost()]);
    const inside = createPathCheck(folder ?? cwd, cwd, reserved);
    const paths = listCallPaths(call).map(inside);
    // A request that shows a change is a change, regardless of its kind.
    const isChange = call.content?.some(({ type }) => type === 'diff') && !CHANGES.has(readCallKind(call));
    const kinds = isChange ? ['edit', readCallKind(call)] : [readCallKind(call)];
    return kinds.every((kind) => rules.isPermitted(permissions, { kind, paths }));
  }

  async function askPerson(call: KnownCall, options: readonly PermissionOption[], given: AbortSignal) {
    const names = makeUnique(options.map((each) => formatOption(each, options)));
    const answer = await link.call(
      'ask',
      {
        question: clipText(`${deps.agent()} wants to ${readCallKind(call)}: ${formatTitle(call)}`),
        context: describeCall(call, cwd),
        options: names,
        timeout_sec: ASK_SEC,
      },
      { ...callQuietly(), signal: AbortSignal.any([signal, given]) },
    );
    if (answer.status !== 'answered') return null;
    const option = options[names.indexOf(answer.answer ?? '')];
    return option === undefined ? null : { option, by: answer.by ?? 'somebody' };
  }

  async function decideRequest(call: KnownCall, options: readonly PermissionOption[], given: AbortSignal) {
    // A permanent permission would cover changes that no one has seen.
    const allowed = findOption(options, 'allow_once');
    if (allowed !== undefined && (await isPermitted(call))) return { option: allowed, by: 'policy' };
    return askPerson(call, options, given);
  }

  /** The answers to requests; they may arrive concurrently. */
  return async function answer(
    request: RequestPermissionRequest,
    given: AbortSignal,
  ): Promise<RequestPermissionResponse> {
    const call = transcript.call(request.toolCall);
    const options = request.options ?? [];
    transcript.flush();
    const buildResponse = (option: PermissionOption | undefined, by: string): RequestPermissionResponse => {
      const outcome = option?.kind ?? 'cancelled';
      const { toolCallId: tool } = call;
      print({ acp: 'permission', tool, kind: readCallKind(call), title: formatTitle(call), outcome, by });
      return option === undefined
        ? { outcome: { outcome: 'cancelled' } }
        : { outcome: { outcome: 'selected', optionId: option.optionId } };
    };
    try {
      const decided = await rejectOnAbort(
        AbortSignal.any([signal, given]),
        decideRequest(call, options, given),
      );
      if (decided !== null) return buildResponse(decided.option, decided.by);
      return buildResponse(
        findOption(options, 'reject_once') ?? findOption(options, 'reject_always'),
        'nobody',
      );
    } catch (error) {
      if (signal.aborted || given.aborted) return buildResponse(undefined, 'svc');
      // No one could be asked, so no one has agreed.
      const why = error instanceof SvcError ? error.message : String(error);
      print({ acp: 'error', code: 'permission_denied', text: clipText(`no one could be asked: ${why}`) });
      return buildResponse(findOption(options, 'reject_once') ?? findOption(options, 'reject_always'), 'svc');
    }
  };
}

/** Rejects when the run is cancelled: a hanging engine must not delay the answer. */
function rejectOnAbort<T>(signal: AbortSignal, promise: Promise<T>): Promise<T> {
  promise.catch(() => undefined);
  return new Promise((resolve, reject) => {
    const rejectAborted = (): void => reject(new SvcError('cancelled', 'it was cancelled'));
    if (signal.aborted) return rejectAborted();
    signal.addEventListener('abort', rejectAborted, { once: true });
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', rejectAborted));
  });
}

const CHANGES: ReadonlySet<string> = new Set(['edit', 'delete', 'move']);

const findOption = (options: readonly PermissionOption[], kind: string): PermissionOption | undefined =>
  options.find((option) => option.kind === kind);

const readCallKind = ({ kind }: KnownCall): string => kind ?? 'other';
const formatTitle = ({ title, toolCallId }: KnownCall): string => clipText(title || `call ${toolCallId}`);

const KINDS: Readonly<Record<string, string>> = {
  allow_once: 'once',
  allow_always: 'always',
  reject_once: 'once',
  reject_always: 'always',
};

/** Returns the label of an option as the agent gives it; equal labels get the duration for which each applies. */
function formatOption({ name, kind }: PermissionOption, options: readonly PermissionOption[]): string {
  const isAlone = options.filter((each) => each.name.trim() === name.trim()).length === 1;
  return isAlone || KINDS[kind] === undefined ? name : `${name.trim()} (${KINDS[kind]})`.trim();
}

/** Makes the labels distinct and non-empty, since each of them is an answer. */
function makeUnique(names: readonly string[]): string[] {
  const taken = new Set<string>();
  return names.map((name) => {
    const base = clipText(name.trim() || 'an option without a name');
    let own = base;
    for (let copy = 2; taken.has(own); copy += 1) own = `${base} (${copy})`;
    taken.add(own);
    return own;
  });
}

/** Describes what a person must see to answer: the paths, the command, the change. */
function describeCall(call: KnownCall, cwd: string): string {
  const { rawInput, content, toolCallId } = call;
  const { command } = (rawInput ?? {}) as { command?: unknown };
  const parts = [`call ${toolCallId} in ${cwd}`];
  const paths = listCallPaths(call);
  if (paths.length > 0) parts.push(`paths:\n${paths.map((path) => `  ${path}`).join('\n')}`);
  if (command !== undefined) parts.push(`command:\n${[command].flat().map(String).join(' ')}`);
  for (const each of content ?? []) {
    if (each.type === 'diff') {
      parts.push(`${each.path}:\n${markLines('-', each.oldText ?? '')}${markLines('+', each.newText)}`);
    } else if (each.type === 'content' && each.content.type === 'text') parts.push(each.content.text);
  }
  if (parts.length === 1 && rawInput !== undefined) parts.push(JSON.stringify(rawInput, null, 2));
  const text = parts.join('\n\n');
  return text.length > LONGEST_CONTEXT ? `${text.slice(0, LONGEST_CONTEXT)}…` : text;
}

const markLines = (mark: string, text: string): string =>
  text === ''
    ? ''
    : `${text
        .split('\n')
        .map((line) => `${mark} ${line}`)
        .join('\n')}\n`;

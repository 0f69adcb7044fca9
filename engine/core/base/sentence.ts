import { quoteForShell } from './text.ts';

/** An operation named in a sentence: each reader sees its own name for it. */
export interface OperationMention {
  /** `task.run`; `input.to_session` is the parameter to_session of the call that the sentence answers. */
  readonly operation: string;
  /** Its arguments, ready for a shell, e.g. `t-3` or `<agent>`. */
  readonly on: readonly string[];
  /** Its options by input name. */
  readonly options: Readonly<Record<string, string>>;
}

export type SentencePart = string | OperationMention;

const PARAMETER = 'input.';

/** Operations whose command differs from their own two words. */
const COMMANDS: Readonly<Record<string, string>> = {
  'entitlements.status': 'entitlements',
  'context.externalize': 'context put',
  'context.retrieve': 'context get',
  'memory.remember': 'memory add',
  'agent.held': 'agents',
  'agent.reset': 'agents reset',
  'comment.add': 'worker comment',
  'comment.list': 'worker comment',
  'dispatch.worker': 'task add --run',
  'schedule.add': 'task add --every',
  ask: 'ask open',
  'engine.status': 'status',
  'gateway.remove_key': 'gateway keys remove',
  'lock.status': 'lock list',
  'msg.roster': 'tool call msg_roster',
  'msg.stale': 'tool call msg_stale',
  'search.shared_symbols': 'tool call search_shared_symbols',
  'session.list': 'worker list',
  'session.log': 'log',
  'worktree.promote': 'merge',
  'worktree.diff': 'diff',
  'worker.kill': 'stop',
  'decision.approve': 'approve',
  'ask.answer': 'answer',
  'session.show': 'worker show',
  'task.claim': 'ledger claim',
  'task.release': 'ledger release',
  'tool.list': 'tool list',
  'verify.status': 'verify show',
  'worktree.status': 'worktree list',
};

/** Returns the name of a parameter; null if an operation is mentioned. */
export const parameterOf = ({ operation }: OperationMention): string | null =>
  operation.startsWith(PARAMETER) ? operation.slice(PARAMETER.length) : null;

/** Ids and names stay as they are; anything that a shell would split is quoted. */
const quoteValue = (value: unknown): string => {
  const text = String(value);
  return /^[\w@%+:,./-]+$/.test(text) ? text : quoteForShell(text);
};

/** Parameters whose flag differs from their own name. */
const FLAGS: Readonly<Record<string, string>> = { parent_id: 'reply-to', payload_path: 'payload' };

const formatFlag = (name: string): string => `--${FLAGS[name] ?? name.replaceAll('_', '-')}`;

/** Returns the command to type, without the leading `svc`, with its arguments. */
export function nameCommand(mention: OperationMention): string {
  const parameter = parameterOf(mention);
  if (parameter !== null) return formatFlag(parameter);
  const { operation, on, options } = mention;
  const flags = Object.entries(options).map(([name, value]) =>
    value === 'true' ? formatFlag(name) : `${formatFlag(name)} ${value}`,
  );
  return [
    'svc',
    COMMANDS[operation] ?? operation.replace('.', ' ').replaceAll('_', '-'),
    ...on,
    ...flags,
  ].join(' ');
}

/**
 * Text for a caller, with mentions of operations that each reader sees under its own name. Converted without a reader
 * (in a text, as JSON) it uses the command line's names.
 */
export class Sentence {
  readonly parts: readonly SentencePart[];

  constructor(parts: readonly SentencePart[]) {
    this.parts = parts;
  }

  /** @param name returns the reader's name of a mention */
  render(name: (mention: OperationMention) => string): string {
    return this.parts.map((part) => (typeof part === 'string' ? part : name(part))).join('');
  }

  toString(): string {
    return this.render(nameCommand);
  }

  toJSON(): string {
    return this.toString();
  }
}

const isStrings = (value: unknown): value is string[] =>
  Array.isArray(value) && value.every((each) => typeof each === 'string');

const isMention = (value: Partial<OperationMention> | null): boolean =>
  typeof value === 'object' &&
  typeof value?.operation === 'string' &&
  isStrings(value.on) &&
  typeof value.options === 'object' &&
  isStrings(Object.values(value.options ?? {}));

/** Reads `Sentence.parts` from another program; undefined for anything else. */
export const readParts = (value: unknown): Sentence | undefined =>
  Array.isArray(value) && value.every((each) => typeof each === 'string' || isMention(each))
    ? new Sentence(value as SentencePart[])
    : undefined;

/** A sentence for the caller: plain, or with mentions of operations. */
export type SentenceWords = string | Sentence;

interface Draft {
  operation: string;
  on: string[];
  options: Record<string, string>;
}

/**
 * Writes a sentence in which `{operation …}` is a mention: sentence`{worker.kill ${id}} ends it; {task.run ${id}}
 * runs it again`. Options are `name=value`. Only braces in the code are mentions: a value never is.
 */
export function sentence(texts: TemplateStringsArray, ...values: readonly unknown[]): Sentence {
  const parts: SentencePart[] = [];
  let draft: Draft | null = null;
  /** The option whose value comes next. */
  let option: string | null = null;
  texts.forEach((text, index) => {
    for (const piece of text.split(/([{}])/)) {
      if (piece === '{') draft = { operation: '', on: [], options: {} };
      else if (piece === '}') {
        parts.push(draft as unknown as OperationMention);
        draft = null;
      } else if (draft === null) parts.push(piece);
      else {
        for (const word of piece.split(' ').filter((each) => each !== '')) {
          const [name = '', value] = word.split('=', 2);
          option = value === '' ? name : null;
          if (draft.operation === '') draft.operation = word;
          else if (value === undefined) draft.on.push(word);
          else draft.options[name] = value;
        }
      }
    }
    if (index === values.length) return;
    const value = values[index];
    if (draft === null) parts.push(...(value instanceof Sentence ? value.parts : [String(value)]));
    else if (option === null) draft.on.push(quoteValue(value));
    else draft.options[option] = quoteValue(value);
    option = null;
  });
  return new Sentence(parts);
}

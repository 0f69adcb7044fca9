import { SvcError } from '../../core/base/errors.ts';

/** A word of a template. `bare` words were written without quotes or escapes, so `<` may mean a redirection. */
interface Word {
  text: string;
  bare: boolean;
}

/** Values by placeholder name; a placeholder without a value is an error. */
export type TemplateValues = Readonly<Record<string, string | undefined>>;

/** The start of a program: itself, its arguments, and the file for its standard input. */
export interface RenderedCommand {
  argv: string[];
  stdinFile?: string;
}

const PLACEHOLDER = /\{\{([^{}]*)\}\}/g;

/** Placeholders of headless commands (`agents.cmds`, `agents.default_cmd`). */
export const COMMAND_PLACEHOLDERS = ['prompt', 'prompt_file', 'name'] as const;
/** Placeholders of interactive commands (`agents.interactive`). */
export const INTERACTIVE_PLACEHOLDERS = ['notify_port'] as const;
/** Placeholders of bus delivery (`agents.notify`). */
export const NOTIFY_PLACEHOLDERS = [
  'msg_id',
  'kind',
  'from_agent',
  'from_session',
  'to_agent',
  'to_session',
  'body',
  'notify_base',
] as const;

/**
 * Splits a template into words as a shell would, with quotes and backslashes and nothing else: no variables, no
 * globs, no command substitution. Throws `config_invalid` for an open quote.
 */
export const splitCommand = (template: string): string[] => parseWords(template).map((word) => word.text);

/** Returns the words of a command without its redirection, with unfilled placeholders. Throws `config_invalid`. */
export const listArguments = (template: string): string[] => parseCommand(template).argv;

function parseWords(template: string): Word[] {
  const found: Word[] = [];
  let word: Word | undefined;
  let quote: '"' | "'" | undefined;
  const addText = (text: string, bare: boolean): void => {
    word ??= { text: '', bare: true };
    word.text += text;
    word.bare &&= bare;
  };
  for (let at = 0; at < template.length; at++) {
    const char = template[at]!;
    if (quote === "'") {
      if (char === quote) quote = undefined;
      else addText(char, false);
    } else if (char === '\\') {
      const next = template[++at];
      if (next === undefined) throw new SvcError('config_invalid', 'the command ends with a lone backslash');
      if (next === '\n') continue;
      // Inside double quotes a backslash is only special before the characters that are special there.
      addText(quote === '"' && !'"\\$`'.includes(next) ? `\\${next}` : next, false);
    } else if (quote === '"') {
      if (char === quote) quote = undefined;
      else addText(char, false);
    } else if (char === '"' || char === "'") {
      quote = char;
      addText('', false);
    } else if (/\s/.test(char)) {
      if (word) found.push(word);
      word = undefined;
    } else {
      addText(char, true);
    }
  }
  if (quote) throw new SvcError('config_invalid', `the command has an unbalanced ${quote} quote`);
  if (word) found.push(word);
  return found;
}

/**
 * Returns the words of `template` with the placeholders filled in. Words are split first, so a prompt can neither add
 * an argument nor name another placeholder. Throws `config_invalid`.
 */
export function renderCommand(template: string, values: TemplateValues): RenderedCommand {
  const { argv, stdin } = parseCommand(template);
  const fillIn = (text: string): string => fillPlaceholders(text, values);
  const rendered: RenderedCommand = { argv: argv.map(fillIn) };
  if (stdin !== undefined) rendered.stdinFile = fillIn(stdin);
  if (rendered.argv.some((argument) => argument.includes('\0'))) {
    throw new SvcError('spawn_failed', 'an argument of the command contains a zero byte', {
      hint: 'remove the zero byte from the prompt',
    });
  }
  return rendered;
}

/** One pass over the text: inserted values are never scanned. */
export function fillPlaceholders(text: string, values: TemplateValues): string {
  return text.replace(PLACEHOLDER, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) throw unknownPlaceholderError(name, Object.keys(values));
    return value;
  });
}

function parseCommand(template: string): { argv: string[]; stdin: string | undefined } {
  const argv: string[] = [];
  let stdin: string | undefined;
  const all = parseWords(template);
  for (let at = 0; at < all.length; at++) {
    const { text, bare } = all[at]!;
    if (!bare || text !== '<') {
      argv.push(text);
      continue;
    }
    const file = all[++at];
    if (!file)
      throw new SvcError('config_invalid', '< must be followed by the file that becomes standard input');
    if (stdin !== undefined) throw new SvcError('config_invalid', '< may appear only once in a command');
    stdin = file.text;
  }
  if (argv.length === 0) throw new SvcError('config_invalid', 'the command is empty');
  return { argv, stdin };
}

/** Throws `config_invalid` if the text names a placeholder outside `allowed`. */
export function checkPlaceholders(text: string, allowed: readonly string[]): void {
  for (const [, name] of text.matchAll(PLACEHOLDER)) {
    if (!allowed.includes(name!)) throw unknownPlaceholderError(name!, allowed);
  }
}

/** Throws `config_invalid` if the command could not be started or would not do what its author expects. */
export function checkCommand(template: string, allowed: readonly string[]): void {
  // Before the split: `{{ prompt }}` would become three words and silently lose its meaning.
  checkPlaceholders(template, allowed);
  const { argv } = parseCommand(template);
  if (argv[0]!.includes('{{'))
    throw new SvcError('config_invalid', 'the program itself cannot be a placeholder');
  for (const { text, bare } of parseWords(template)) {
    if (bare && /^(?:\||\|\||&|&&|;|\d?>.*|<.+)$/.test(text)) {
      throw new SvcError(
        'config_invalid',
        text.startsWith('<')
          ? `put a space after the < of ${text}`
          : `${text} has no meaning here because no shell runs the command; quote it if it is an argument`,
      );
    }
  }
  checkShellCode(argv);
}

/** Throws as `checkCommand`, and if the prompt is missing. */
export function checkHeadlessCommand(template: string): void {
  checkCommand(template, COMMAND_PLACEHOLDERS);
  if (!/\{\{prompt(?:_file)?\}\}/.test(template)) {
    throw new SvcError('config_invalid', 'the command must contain {{prompt}} or {{prompt_file}}');
  }
}

/** Throws `config_invalid` for a command of bus delivery (`agents.notify`) that could not be started safely. */
export function checkNotifyCommand(template: string): void {
  checkPlaceholders(template, NOTIFY_PLACEHOLDERS);
  const argv = splitCommand(template);
  if (argv.length === 0) throw new SvcError('config_invalid', 'the command is empty');
  if (argv[0]!.includes('{{'))
    throw new SvcError('config_invalid', 'the program itself cannot be a placeholder');
  checkShellCode(argv, /\{\{(?:body|from_agent|to_agent|notify_base)\}\}/, 'a message');
}

// `sh -c "agent {{prompt}}"` would pass text from an untrusted author to a shell as code.
function checkShellCode(
  argv: readonly string[],
  foreign = /\{\{(?:prompt|name)\}\}/,
  what = 'the prompt',
): void {
  for (let at = 0; at + 2 < argv.length; at++) {
    const shell = /(?:^|\/)(?:ba|da|z|k|fi)?sh$/.test(argv[at]!) && /^-[a-z]*c$/.test(argv[at + 1]!);
    const [found] = foreign.exec(shell ? argv[at + 2]! : '') ?? [];
    if (found !== undefined) {
      throw new SvcError(
        'config_invalid',
        `${what} would be run as shell code; pass it as an argument instead: sh -c 'agent "$1"' sh ${found}`,
      );
    }
  }
}

const unknownPlaceholderError = (name: string, allowed: readonly string[]): SvcError =>
  new SvcError(
    'config_invalid',
    allowed.length === 0
      ? `unknown placeholder {{${name}}}; none is allowed here`
      : `unknown placeholder {{${name}}}, allowed: ${allowed.map((word) => `{{${word}}}`).join(' ')}`,
  );

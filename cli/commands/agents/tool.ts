import { asSvcError, SvcError } from '../../../engine/core/base/errors.ts';
import { toPrintableJson } from '../../../engine/core/base/text.ts';
import { type EngineClient, nearWords, type ToolDescription } from '../../../engine/index.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { outputFlags } from '../../pages.ts';
import { formatRows } from '../../print.ts';

const loadTools = async (engine: EngineClient): Promise<ToolDescription[]> =>
  (await engine.call('tool.list')).tools;

const takeFirstSentence = (text: string): string => text.split(/(?<=\.)\s/, 1)[0] ?? text;

type Schema = { type?: unknown } | undefined;

function parseJsonOption(text: string, name: string, what: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new SvcError('usage', `--${name} takes ${what}, not ${JSON.stringify(text)}`);
  }
}

/** Reads the words for one parameter. An array may be given item by item, or as one JSON array. */
function parseToolValue(schema: Schema, words: readonly string[], name: string): unknown {
  const types = [schema?.type ?? 'string'].flat();
  if (types.includes('array')) {
    const items = words.map((word) => (/^\s*[[{]/.test(word) ? parseJsonOption(word, name, 'JSON') : word));
    return items.length === 1 && Array.isArray(items[0]) ? items[0] : items;
  }
  const last = words.at(-1) ?? '';
  return types.includes('string')
    ? last
    : parseJsonOption(last, name, `a value of type ${types.join(' or ')}`);
}

/** Reads `--key value`, `--key=value`, and `--key` alone for a boolean. */
function groupWordsByName(
  words: readonly string[],
  isFlag: (name: string) => boolean,
): Map<string, string[]> {
  const given = new Map<string, string[]>();
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] as string;
    const match = /^--([a-z][\w-]*)(?:=([\s\S]*))?$/.exec(word);
    if (match === null) throw new SvcError('usage', `expected --key, not ${JSON.stringify(word)}`);
    const name = (match[1] as string).replaceAll('-', '_');
    let value = match[2];
    if (value === undefined) {
      const next = words[at + 1];
      const isAlone = isFlag(name) && next !== 'true' && next !== 'false';
      if (!isAlone && next === undefined) throw new SvcError('usage', `${word} needs a value`);
      value = isAlone ? 'true' : next;
      if (!isAlone) at += 1;
    }
    given.set(name, [...(given.get(name) ?? []), value as string]);
  }
  return given;
}

/** Reads `--key value …` for the parameters that the tool declares, `--args` for all of them at once. */
function parseToolArguments(
  words: readonly string[],
  tool: ToolDescription | undefined,
): Record<string, unknown> {
  const properties = (tool?.inputSchema.properties ?? {}) as Record<string, Schema>;
  const given = groupWordsByName(words, (name) => name === 'json' || properties[name]?.type === 'boolean');
  given.delete('json'); // the result is JSON anyway
  const input: Record<string, unknown> = {};
  for (const [name, values] of given) {
    if (name === 'args') {
      const all = parseJsonOption(values.at(-1) ?? '', 'args', 'a JSON object');
      if (typeof all !== 'object' || all === null || Array.isArray(all)) {
        throw new SvcError('usage', '--args takes a JSON object');
      }
      Object.assign(input, all);
    } else if (tool !== undefined && properties[name] === undefined) {
      throw new SvcError('usage', `${tool.name} has no parameter ${name}`, {
        hint: `it has ${Object.keys(properties).join(', ') || 'none'}`,
      });
    } else input[name] = parseToolValue(properties[name], values, name);
  }
  return input;
}

async function suggestTool(name: string, tools: readonly ToolDescription[]): Promise<string> {
  const { findNearest } = await nearWords();
  const close = findNearest(
    name,
    tools.map((each) => each.name),
  );
  return close === undefined ? 'svc tool list shows the tools of your seat' : `did you mean ${close}?`;
}

async function callTool({ args, signal, stdout, engine: open }: CommandContext): Promise<void> {
  const [name = '', ...words] = args;
  const engine = await open();
  const tools = await loadTools(engine);
  // A tool of another seat is called anyway: the error names the seat.
  const found = tools.find((each) => each.name === name);
  const input = parseToolArguments(words, found);
  const { result } = await engine
    .callTool(name, input, { key: crypto.randomUUID(), signal })
    .catch(async (thrown: unknown) => {
      const { code, message, data } = asSvcError(thrown);
      if (data.unknownTool !== name) throw thrown;
      throw new SvcError(code, message, { cause: thrown, hint: await suggestTool(name, tools), data });
    });
  stdout.write(`${toPrintableJson(result, 2)}\n`);
}

/** Formats a tool for a person who calls it by hand. */
function formatTool({ name, description, inputSchema }: ToolDescription): string {
  const required = (inputSchema.required ?? []) as string[];
  const parameters = Object.entries((inputSchema.properties ?? {}) as Record<string, Parameter>);
  const rows = parameters.map(([key, each]): [string, string] => [
    `--${key.replaceAll('_', '-')} ${each.enum?.join('|') ?? `<${readType(each)}>`}`,
    [
      required.includes(key) ? 'required;' : '',
      each.description ?? '',
      readType(each) === 'array' ? '(may be repeated)' : '',
    ]
      .filter((part) => part !== '')
      .join(' '),
  ]);
  const width = Math.max(0, ...rows.map(([left]) => left.length));
  return [
    description,
    '',
    `usage: svc tool call ${name}${rows.length === 0 ? '' : ' [--key value]...'}`,
    ...(rows.length === 0
      ? []
      : ['', ...rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd())]),
  ].join('\n');
}

interface Parameter {
  type?: string | string[];
  description?: string;
  enum?: string[];
}

const readType = ({ type }: Parameter): string => [type ?? 'value'].flat()[0] ?? 'value';

/** `svc tool list|show|call`: the tools of the MCP interface, without an MCP client. */
export const toolCommands: readonly Command[] = [
  defineCommand({
    name: 'tool list',
    about: 'list the tools that your seat may call',
    flags: outputFlags,
    examples: ['tool list'],
    async run({ engine, result, stdout, paint }) {
      const tools = await loadTools(await engine());
      const text = await formatRows(
        tools,
        [
          { head: 'tool', value: ({ name }) => name },
          { head: 'about', value: ({ description }) => takeFirstSentence(description), flexible: true },
        ],
        stdout,
        paint,
      );
      result(tools, () => text);
    },
  }),
  defineCommand({
    name: 'tool show',
    about: 'show what a tool does, and its parameters',
    args: [{ name: 'name', about: 'the tool', completes: 'tool' }],
    flags: outputFlags,
    examples: ['tool show msg_send'],
    async run({ args, engine, result }) {
      const [name = ''] = args;
      const tools = await loadTools(await engine());
      const found = tools.find((each) => each.name === name);
      if (found === undefined) {
        throw new SvcError('not_found', `your seat has no tool ${JSON.stringify(name)}`, {
          hint: await suggestTool(name, tools),
        });
      }
      result(found, formatTool);
    },
  }),
  defineCommand({
    name: 'tool call',
    about: 'call a tool; prints its structured result as JSON',
    helpWith: ([name]) => (name === undefined ? null : ['tool', 'show', name]),
    args: [
      { name: 'name', about: 'the tool', completes: 'tool' },
      {
        name: 'arguments',
        about: '--key value for each parameter, as svc tool show has them; or --args with a JSON object',
        rest: true,
        optional: true,
      },
    ],
    verbatim: true,
    examples: [
      'tool call task_list --status running',
      `tool call msg_send --args '{"to_role":"parent","body":"done"}'`,
    ],
    run: callTool,
  }),
];

import { configuration as engine } from '../../engine/index.ts';
import { type Command, type Context, command, type FlagTable } from '../command.ts';

/** The workspace's configuration as it stands. */
async function load<T extends FlagTable>({ cwd, env, note }: Context<T>) {
  const { findWorkspace, loadConfig } = await engine();
  const loaded = loadConfig({ file: findWorkspace({ cwd, env }).file, env });
  for (const warning of loaded.warnings) note(`warning: ${warning}`);
  return loaded;
}

const show = command({
  name: 'config show',
  about: 'print the configuration in effect, with secrets hidden',
  flags: { sources: { type: 'boolean', about: 'say for every key where its value comes from' } },
  examples: ['config show', 'config show --sources --json'],
  async run(context) {
    const { describeKeys, getAt, masked } = await engine();
    const loaded = await load(context);
    const config = masked(loaded.config);
    if (!context.flags.sources) {
      const { stringify } = await import('yaml');
      context.result(config, (value) =>
        stringify(value, { lineWidth: 0, aliasDuplicateObjects: false }).trimEnd(),
      );
      return;
    }
    const keys = describeKeys().map(({ key }) => ({
      key,
      value: getAt(config, key.split('.')) ?? null,
      source: loaded.sources.get(key) ?? 'default',
    }));
    context.result({ file: loaded.file, home: loaded.home.path, keys }, (value) =>
      columns(value.keys.map((row) => [row.key, row.source, short(row.value)])),
    );
  },
});

const get = command({
  name: 'config get',
  about: 'print the value of one key or section',
  args: [{ name: 'key', about: 'dotted key, such as agents.timeout_sec', completes: 'key' }],
  examples: ['config get agents.timeout_sec', 'config get agents.cmds.claude'],
  async run(context) {
    const { getAt, keyPath, masked } = await engine();
    const path = keyPath(context.args[0] ?? '');
    const loaded = await load(context);
    const value = getAt(masked(loaded.config), path) ?? null;
    const { stringify } = await import('yaml');
    context.result(value, (it) =>
      typeof it === 'object' && it !== null
        ? stringify(it, { lineWidth: 0 }).trimEnd()
        : String(it ?? 'unset'),
    );
  },
});

/** How long the change of a key may wait for an engine that hangs. */
const PATIENCE_MS = 2000;

const set = command({
  name: 'config set',
  about: 'change one key of svc.yaml; the whole file is checked before it is written',
  args: [
    { name: 'key', about: 'dotted key', completes: 'key' },
    { name: 'value', about: 'the new value as YAML; null takes the key out' },
  ],
  examples: ['config set agents.timeout_sec 1800', "config set policy.actors '[alice, bob]'"],
  async run(context) {
    const { findWorkspace, getAt, keyPath, masked, setKey } = await engine();
    const { cwd, env } = context;
    const [name = '', text = ''] = context.args;
    const { file } = findWorkspace({ cwd, env });
    const loaded = setKey({ file, env, name, text });
    const value = getAt(masked(loaded.config), keyPath(name)) ?? null;
    const source = loaded.sources.get(name) ?? 'workspace';
    context.result({ key: name, value, source, file }, () => `${name} = ${short(value)}`);
    if (source === 'environment') context.note('note: an environment variable overrides what the file says');
    await tellEngine(context);
  },
});

/** An engine that runs sees the change by itself, a moment later: the next command is to find it in use. */
async function tellEngine(context: Context): Promise<void> {
  try {
    const client = await context.engine({ start: false, patienceMs: PATIENCE_MS });
    const told = await client.call<{ restart_needed: string[] }>('engine.reload');
    const keys = told.restart_needed;
    if (keys.length > 0) context.note(`note: ${keys.join(', ')} count after svc down and svc up`);
  } catch {
    // None runs, or it cannot be asked: it reads the file when it can.
  }
}

const check = command({
  name: 'config check',
  about: 'check svc.yaml, the environment and the machine home',
  async run(context) {
    const { findWorkspace, loadConfig } = await engine();
    const { cwd, env } = context;
    const { file } = findWorkspace({ cwd, env });
    const { warnings } = loadConfig({ file, env });
    context.result({ file, ok: true, warnings }, () =>
      [...warnings.map((warning) => `warning: ${warning}`), `${file} is valid`].join('\n'),
    );
  },
});

const keys = command({
  name: 'config keys',
  about: 'list every key with its type, default and meaning',
  examples: ['config keys', 'config keys --json'],
  async run(context) {
    const { describeKeys } = await engine();
    context.result(describeKeys(), (all) =>
      columns([
        ['KEY', 'TYPE', 'DEFAULT', 'MEANING'],
        ...all.map(({ key, type, default: standard, description, unset, allowed }) => [
          key,
          type,
          short(standard),
          [
            description,
            allowed && !type.includes('bool') ? `Allowed: ${allowed.join(', ')}.` : '',
            unset ? `Unset: ${unset}.` : '',
          ]
            .filter((part) => part !== '')
            .join(' '),
        ]),
      ]),
    );
  },
});

const schema = command({
  name: 'config schema',
  about: 'print the JSON Schema of svc.yaml, for editors',
  examples: ['config schema > svc.schema.json'],
  async run(context) {
    const { configJsonSchema } = await engine();
    context.result(configJsonSchema(), (value) => JSON.stringify(value, null, 2));
  },
});

/** `svc config …`. None of them needs the engine. */
export const configCommands: Command[] = [show, get, set, check, keys, schema];

const WIDEST_VALUE = 48;

/** A value in one short piece of text. */
function short(value: unknown): string {
  if (value === null || value === undefined) return 'unset';
  const text = typeof value === 'string' ? (value === '' ? '""' : value) : JSON.stringify(value);
  return text.length > WIDEST_VALUE ? `${text.slice(0, WIDEST_VALUE - 1)}…` : text;
}

function columns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '),
    )
    .join('\n');
}

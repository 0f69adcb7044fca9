import { asSvcError, EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { toPrintable } from '../../../engine/core/base/text.ts';
import { type ConsentView, configuration as engine, ownSeat } from '../../../engine/index.ts';
import { actAsChair } from '../../chair-act.ts';
import { type Command, type CommandContext, defineCommand, type FlagTable } from '../../command.ts';
import { askForYes } from '../../confirm.ts';
import { outputFlags } from '../../pages.ts';
import { readConsentView } from './trust.ts';

/** The workspace's current configuration. */
async function loadWorkspaceConfig<T extends FlagTable>({ cwd, env, note }: CommandContext<T>) {
  const { findWorkspace, loadConfig } = await engine();
  const loaded = loadConfig({ file: findWorkspace({ cwd, env }).file, env });
  for (const warning of loaded.warnings) note(`warning: ${warning}`);
  noteWaiting({ note }, loaded.consent);
  return loaded;
}

const show = defineCommand({
  name: 'config show',
  about: 'print the configuration in effect, with secrets hidden',
  flags: {
    sources: { type: 'boolean', about: 'show where each value comes from' },
    ...outputFlags,
  },
  examples: ['config show', 'config show --sources --json'],
  async run(context) {
    const { describeKeys, getAt, maskSecrets } = await engine();
    const loaded = await loadWorkspaceConfig(context);
    const config = maskSecrets(loaded.config);
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
      alignColumns(value.keys.map((row) => [row.key, row.source, shortenValue(row.value)])),
    );
  },
});

const get = defineCommand({
  name: 'config get',
  about: 'print the value of one key or section',
  args: [{ name: 'key', about: 'dotted key, such as agents.timeout_sec', completes: 'key' }],
  examples: ['config get agents.timeout_sec', 'config get agents.cmds.claude'],
  async run(context) {
    const { getAt, resolveKeyPath, maskSecrets } = await engine();
    const [name = ''] = context.args;
    const path = resolveKeyPath(name);
    const loaded = await loadWorkspaceConfig(context);
    const config = maskSecrets(loaded.config);
    const value = getAt(config, path) ?? null;
    const { stringify } = await import('yaml');
    context.result(value, (it) =>
      typeof it === 'object' && it !== null
        ? stringify(it, { lineWidth: 0 }).trimEnd()
        : String(it ?? 'unset'),
    );
    if (value === null || value === '') context.note(await describeUnset(name, config));
  },
});

/** Explains what an unset key means, and how to set it. */
async function describeUnset(name: string, config: object): Promise<string> {
  const { describeKeys, getAt, findMapKey, suggestName } = await engine();
  const map = findMapKey(name);
  if (map !== undefined) {
    const entry = name.slice(map.key.length + 1);
    const entries = Object.keys(getAt(config, map.key.split('.')) ?? {});
    return `note: ${map.key} has no entry ${entry}${suggestName(entry, entries)}`;
  }
  const meaning = describeKeys().find(({ key }) => key === name)?.unset;
  return `note: ${name} is unset${meaning ? ` (${meaning})` : ''}; svc config set ${name} <value> sets it`;
}

/** How long changing a key waits for a hanging engine. */
const PATIENCE_MS = 2000;

/** Notes the effects of a change. */
interface Changed {
  restart_needed: string[];
  consent: ConsentView;
}

function noteChanged(
  { note }: Pick<CommandContext, 'note'>,
  { restart_needed: keys, consent }: Changed,
): void {
  if (keys.length > 0) note(`note: ${keys.join(', ')} take effect after svc down and svc up`);
  noteWaiting({ note }, consent);
}

const noteWaiting = (
  { note }: Pick<CommandContext, 'note'>,
  { pending }: { pending: readonly { key: string }[] },
): void => {
  if (pending.length > 0)
    note(`note: not in use until svc trust: ${pending.map(({ key }) => key).join(', ')}`);
};

const isFilled = (value: unknown): boolean =>
  typeof value === 'object' && value !== null && Object.keys(value).length > 0;

/** Warns a person who allows decisions from outside without one-time codes. */
const noteDeciders = ({ note }: Pick<CommandContext, 'note'>): void =>
  note(
    'note: without one-time codes, anyone who takes over the server can approve in their name; svc link code sets codes up',
  );

const set = defineCommand({
  name: 'config set',
  about: 'change one key of svc.yaml; the whole file is checked before it is written',
  args: [
    { name: 'key', about: 'dotted key', completes: 'key' },
    { name: 'value', about: 'the new value as YAML; null removes the key', completes: 'setting' },
  ],
  examples: ['config set agents.timeout_sec 1800', "config set policy.actors '[alice, bob]'"],
  async run(context) {
    const { findWorkspace, getAt, resolveKeyPath, maskSecrets, setKey } = await engine();
    const { cwd, env } = context;
    const [name = '', text = ''] = context.args;
    const { file } = findWorkspace({ cwd, env });
    const path = resolveKeyPath(name);
    const done = await actAsChair<Changed & { value: unknown; source: string }>(context, 'svc config set', {
      patienceMs: PATIENCE_MS,
      ask: (client) => client.call('config.set', { key: name, value: text }),
      async alone() {
        const loaded = setKey({ file, env, name, text });
        return {
          value: getAt(maskSecrets(loaded.config), path) ?? null,
          source: loaded.sources.get(name) ?? 'workspace',
          restart_needed: [],
          consent: await readConsentView(context),
        };
      },
    });
    const { value, source } = done;
    context.result({ key: name, value, source, file }, () => `${name} = ${shortenValue(value)}`);
    if (path[0] === 'server' && path[1] === 'decide' && isFilled(value)) noteDeciders(context);
    if (source === 'environment') context.note('note: an environment variable overrides what the file says');
    noteChanged(context, done);
  },
});

const edit = defineCommand({
  name: 'config edit',
  about:
    'open svc.yaml in $VISUAL or $EDITOR; it is checked before it is written, and opened again on an error',
  examples: ['config edit'],
  async run(context) {
    const { findActor, readConfigText, findWorkspace, loadConfig, writeConfig } = await engine();
    const { cwd, env, stdin, stdout } = context;
    const what = 'svc config edit';
    // The engine checks this too when it writes; checking first avoids a useless edit.
    (await ownSeat()).refuseInsideRun(what, env);
    if (!stdin.isTTY || !stdout.isTTY)
      throw new SvcError('usage', 'no terminal is available to edit on', {
        hint: 'svc config set changes one key',
      });
    const { file } = findWorkspace({ cwd, env });
    const seen = readConfigText(file);
    const { editText, keepText } = await import('../../../tui/editor.ts');
    let text = seen;
    const keepAndDescribe = (): string => `your text is saved in ${keepText(text, 'svc.yaml')}`;
    /** Saves the text when `work` fails, so that it is not lost. */
    const orKept = <T>(work: Promise<T>): Promise<T> =>
      work.catch((thrown: unknown) => {
        if (text === seen) throw thrown;
        const { code, message, hint, data } = asSvcError(thrown);
        const next = hint === undefined ? '' : `; ${hint}`;
        throw new SvcError(code, message, { cause: thrown, hint: `${keepAndDescribe()}${next}`, data });
      });
    for (;;) {
      text = await orKept(editText(text, 'svc.yaml', env));
      if (text === seen) {
        context.result({ file, changed: false }, () => 'nothing was changed');
        return 0;
      }
      try {
        loadConfig({ file, env, text, believe: true });
        break;
      } catch (thrown) {
        const { code, message } = asSvcError(thrown);
        if (code !== 'config_invalid') throw thrown;
        context.note(toPrintable(message, { lines: true }));
        if (await askForYes(context, 'Edit it again?')) continue;
        context.note(`nothing was written; ${keepAndDescribe()}`);
        return EXIT.failure;
      }
    }
    const done = await orKept(
      actAsChair<Changed>(context, what, {
        patienceMs: PATIENCE_MS,
        ask: (client) => client.call('config.write', { text, seen }),
        async alone() {
          writeConfig({ file, env, text, seen, actor: findActor(env) });
          return { restart_needed: [], consent: await readConsentView(context) };
        },
      }),
    );
    context.result({ file, changed: true }, () => `wrote ${toPrintable(file)}`);
    noteChanged(context, done);
    return 0;
  },
});

const check = defineCommand({
  name: 'config check',
  about: 'check svc.yaml, the environment and the machine home',
  examples: ['config check'],
  async run(context) {
    const { describeKeys, findWorkspace, loadConfig, describePending } = await engine();
    const { cwd, env } = context;
    const { file } = findWorkspace({ cwd, env });
    const { warnings, consent, sources } = loadConfig({ file, env });
    const unused = describeKeys().flatMap(({ key, pending }) =>
      pending === null || (sources.get(key) ?? 'default') === 'default' ? [] : [{ key, for: pending }],
    );
    const waiting = consent.pending.map(({ key }) => key);
    context.result({ file, ok: true, warnings, pending: waiting, unused }, () =>
      [
        ...warnings.map((warning) => `warning: ${warning}`),
        ...unused.map((each) => `pending: ${each.key}. ${describePending(each.for)}`),
        `${file} is valid`,
      ].join('\n'),
    );
    noteWaiting(context, consent);
  },
});

const keys = defineCommand({
  name: 'config keys',
  about: 'list every key with its type, default and meaning',
  examples: ['config keys', 'config keys --json'],
  async run(context) {
    const { describeKeys, describePending } = await engine();
    context.result(describeKeys(), (all) =>
      alignColumns([
        ['KEY', 'TYPE', 'DEFAULT', 'MEANING'],
        ...all.map(({ key, type, default: standard, description, unset, allowed, consent, pending }) => [
          key,
          type,
          shortenValue(standard),
          [
            description,
            allowed && !type.includes('bool') ? `Allowed: ${allowed.join(', ')}.` : '',
            unset ? `Unset: ${unset}.` : '',
            consent ? 'Takes effect once agreed to (svc trust).' : '',
            pending === null ? '' : describePending(pending),
          ]
            .filter((part) => part !== '')
            .join(' '),
        ]),
      ]),
    );
  },
});

const schema = defineCommand({
  name: 'config schema',
  about: 'print the JSON Schema of svc.yaml, for editors',
  examples: ['config schema > svc.schema.json'],
  async run(context) {
    const { buildJsonSchema } = await engine();
    context.result(buildJsonSchema(), (value) => JSON.stringify(value, null, 2));
  },
});

/** `svc config …`. None of them needs the engine. */
export const configCommands: Command[] = [show, get, set, edit, check, keys, schema];

const WIDEST_VALUE = 48;

/** Formats a value as one short text. */
function shortenValue(value: unknown): string {
  if (value === null || value === undefined) return 'unset';
  const text = typeof value === 'string' ? (value === '' ? '""' : value) : JSON.stringify(value);
  return text.length > WIDEST_VALUE ? `${text.slice(0, WIDEST_VALUE - 1)}…` : text;
}

function alignColumns(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, at) => Math.max(...rows.map((row) => row[at]?.length ?? 0)));
  return rows
    .map((row) =>
      row.map((cell, at) => (at === row.length - 1 ? cell : cell.padEnd(widths[at] ?? 0))).join('  '),
    )
    .join('\n');
}

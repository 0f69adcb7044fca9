import { stringify } from 'yaml';
import { ENVIRONMENT } from './environment.ts';
import { describeKeyDetails, describePending, type KeyDetail } from './keys.ts';

const HEAD = `# Configuration of svc. Every key is here, commented out, with its default or an example.
# Remove the # in front of a key (and of the lines below that belong to it) to set it.
# svc config check reads the result; svc config show --sources shows where each value comes from.
`;

/** Renders `svc.yaml.example`: every key, commented. Values follow a bare `#`, prose a `#` and one space. */
export function renderExampleYaml(): string {
  const lines = [HEAD];
  let open: string[] = [];
  for (const detail of describeKeyDetails()) {
    const path = detail.key.split('.');
    const parents = path.slice(0, -1);
    const shared = parents.findIndex((part, depth) => open[depth] !== part);
    const from = shared === -1 ? parents.length : shared;
    lines.push('');
    for (let depth = from; depth < parents.length; depth++)
      lines.push(`${'  '.repeat(depth)}${parents[depth]}:`);
    open = parents;
    const indent = '  '.repeat(parents.length);
    for (const line of renderProse(detail)) lines.push(`${indent}# ${line}`);
    for (const line of renderValue(detail, path.at(-1)!)) lines.push(`${indent}#${line}`);
  }
  return `${lines.join('\n').replace(/\n{3,}/g, '\n\n')}\n`;
}

function renderProse({ type, description, unset, allowed, env, ...detail }: KeyDetail): string[] {
  const facts = [`${type}, default ${describeDefault(detail.default)}`];
  if (allowed && !type.includes('bool')) facts.push(`allowed: ${allowed.join(', ')}`);
  if (unset !== null) facts.push(`unset: ${unset}`);
  if (env !== null) facts.push(`environment: ${env}`);
  const pending = detail.pending === null ? [] : [describePending(detail.pending)];
  return [description, `${facts.join('; ')}.`, ...pending];
}

function renderValue({ default: standard, example }: KeyDetail, name: string): string[] {
  const value = isEmptyValue(standard) ? (example ?? standard) : standard;
  return stringify({ [name]: value }, { lineWidth: 0, aliasDuplicateObjects: false })
    .trimEnd()
    .split('\n')
    .map((line) => line.replace(/: null$/, ':'));
}

const isEmptyValue = (value: unknown): boolean =>
  value === null || value === '' || (typeof value === 'object' && Object.keys(value).length === 0);

function describeDefault(value: unknown): string {
  if (value === null) return 'unset';
  if (value === '') return 'empty';
  if (Array.isArray(value)) return value.length > 0 ? value.join(', ') : 'an empty list';
  if (typeof value === 'object') {
    const names = Object.keys(value);
    return names.length > 0 ? `entries for ${names.join(', ')}` : 'an empty map';
  }
  return String(value);
}

const escapeCell = (text: string): string => text.replaceAll('|', '\\|').replaceAll('\n', ' ');
const formatCode = (text: string): string => `\`${text}\``;
const formatRow = (...cells: string[]): string => `| ${cells.map(escapeCell).join(' | ')} |`;

/** Renders `docs/reference/config.md`: the keys by section, the environment, precedence and the machine home. */
export function renderConfigMarkdown(): string {
  const details = describeKeyDetails();
  const sections = [...new Set(details.map(({ key }) => key.split('.')[0]!))];
  const tables = sections.map((section) => {
    const keys = details.filter(({ key }) => key === section || key.startsWith(`${section}.`));
    return [
      `## ${section}`,
      '',
      formatRow('key', 'type', 'default', 'meaning', 'unset', 'allowed'),
      formatRow('---', '---', '---', '---', '---', '---'),
      ...keys.map((detail) =>
        formatRow(
          formatCode(detail.key),
          formatCode(detail.type),
          describeDefault(detail.default),
          describeMeaning(detail),
          detail.unset ?? '',
          detail.allowed?.map(formatCode).join(', ') ?? '',
        ),
      ),
    ].join('\n');
  });
  return [INTRODUCTION, ...tables, renderEnvironmentTable(), HOME].join('\n\n').concat('\n');
}

const describeMeaning = ({ description, env, consent, pending }: KeyDetail): string =>
  [
    description,
    ...(env === null ? [] : [`Overridden by ${formatCode(env)}.`]),
    ...(consent ? ['**Under consent.**'] : []),
    ...(pending === null ? [] : [`**Pending**: for ${pending}.`]),
  ].join(' ');

const INTRODUCTION = `# Configuration

This page is generated from the schema. \`svc config keys\` prints the same table, \`svc config schema\` a JSON Schema for editors.

A workspace is the folder that holds \`svc.yaml\`: the nearest one upwards from the current folder, or the one that
\`SVC_CONFIG\` names. Every key is optional, and a key without a value is ignored. A value comes from the
first of these sources that sets it:

1. a flag of the command
2. the environment
3. \`svc.yaml\` of the workspace
4. \`ai.yaml\` of the machine home (sections \`ai\` and \`gateway\` only)
5. the default

Lists are replaced as a whole. The maps of presets (\`agents.cmds\`, \`agents.interactive\`, \`agents.acp\`, \`agents.notify\`) add to
the built-in presets: an entry replaces or adds one. Durations are written with their unit (\`30s\`, \`90m\`, \`24h\`, \`7d\`, \`1h30m\`),
addresses as host and port (\`127.0.0.1:8790\`, \`[::1]:0\`). Relative paths are relative to the folder of \`svc.yaml\`.

A command is split into words first, with quotes and backslashes as in a shell but without any expansion; then the
placeholders are filled in, so a prompt always stays one argument. \`< {{prompt_file}}\` opens that file as
standard input. No shell is involved.

Keys marked *under consent* name a program, an address, a guard or a path. Their values in svc.yaml take effect once a
person on this machine has agreed to them, with \`svc trust\` or by setting them with svc; [trust](../operate/trust.md) has the rules. All other
keys take effect immediately: they cannot start or guard anything.

A key marked *pending* is checked and kept, but not used yet: setting it has no effect until its feature
exists. \`svc config check\` lists the pending keys that svc.yaml sets.

An unknown key, a wrong type or a contradiction is an error that names file, line, column and key, and exits with 2.`;

function renderEnvironmentTable(): string {
  return [
    '## Environment variables',
    '',
    formatRow('variable', 'effect', 'key', 'read by'),
    formatRow('---', '---', '---', '---'),
    ...ENVIRONMENT.map(({ name, effect, key, owner }) =>
      formatRow(formatCode(name), effect, key ? formatCode(key) : '', owner),
    ),
  ].join('\n');
}

const HOME = `## Machine home

Files of one person for every workspace of the machine, in the first of: the folder in \`SVC_HOME\`, \`svc\` in the
local app data folder (\`LOCALAPPDATA\`, when set), \`svc\` in \`XDG_CONFIG_HOME\`, \`~/.config/svc\`.

| file | content |
| --- | --- |
| \`ai.yaml\` | the sections \`ai\` and \`gateway\`, checked as in \`svc.yaml\` |
| \`keys.env\` | \`NAME=VALUE\` lines, used for a variable that a key such as \`api_key_env\` names if the environment does not have it. Keep it private: \`chmod 600\` |
| \`consents/\` | one file per workspace: the parts of its svc.yaml, and of its project setup, that a person agreed to; ignored if others can write it |
| \`data-folders/\` | one file per data folder that svc has created on this machine |
| \`workspaces/\` | one file per workspace whose engine was started here: its name and folder, for \`svc status --all\` and \`svc dash --all\`; entries of removed workspaces are deleted when an engine starts |
| \`account.json\` | the account's profile after a login; holds no secret |
| \`device.token\` | the token for the linked server |`;

/** The findings of `svc init`. */
export interface InitFindings {
  name: string;
  /** The default agent, if one was found. */
  preset: string | undefined;
  installed: readonly string[];
  /** Non-default addresses, by key: another workspace of this machine uses the defaults. */
  addresses: Readonly<Partial<Record<'ui.addr' | 'gateway.addr', string>>>;
}

/** Writes a short svc.yaml to start with. */
export function renderStarterYaml({ name, preset, installed, addresses }: InitFindings): string {
  const formatScalar = (text: string): string => stringify(text, { lineWidth: 0 }).trimEnd();
  const agents =
    preset === undefined
      ? '  # No agent was found on the path. The only one that is installed later is used.\n  # default_preset: claude'
      : `  # Found on this machine: ${installed.join(', ')}.\n  default_preset: ${preset}`;
  const apart = Object.entries(addresses).map(
    ([key, value]) => `${key.split('.')[0]}:\n  addr: ${formatScalar(value)}\n`,
  );
  const addressLines =
    apart.length === 0
      ? ''
      : `\n# Other workspaces of this machine use the default addresses.\n${apart.join('')}`;
  return `# Configuration of svc for this workspace. Every key is optional.
# svc config keys lists them all, svc config check reads this file, svc config show --sources shows the result.

workspace:
  name: ${formatScalar(name)}
  # The language of code and comments, for svc guard.
  # code_lang: en

project:
  name: ${formatScalar(name)}

agents:
${agents}
  # Hard cap on one run, in seconds.
  timeout_sec: 1800

webhook:
  # The name of the variable that holds the shared secret. For requests from outside: svc webhook secret creates it.
  secret_env: SVC_WEBHOOK_SECRET
  # false lets a signed request start an agent without asking anyone.
  require_approval: true
  templates:
    fix:${preset === undefined ? '' : `\n      agent: ${preset}`}
      prompt: Find the cause of the failing tests, fix it and commit.
    # The template named codehost is used for issues of a code host:
    # codehost:
    #   agent: ${preset ?? 'claude'}
${addressLines}
# Events go to these addresses; svc notify events lists them.
# notify:
#   webhooks:
#     - url: http://127.0.0.1:9000/hook
#       events: [needs_approval, sealed, failed]
#       secret_env: SVC_NOTIFY_SECRET
`;
}

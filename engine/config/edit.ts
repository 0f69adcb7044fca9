import { mkdirSync, realpathSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { parse, parseDocument } from 'yaml';
import { writeFileAtomically } from '../core/base/atomic-file.ts';
import { SvcError } from '../core/base/errors.ts';
import { listChangedSetups, listConsentKeys, listDifferingKeys, recordAgreement } from './consent.ts';
import { findActor } from './first-use.ts';
import { describeKeys, type KeyInfo } from './keys.ts';
import type { ConfigTree } from './layers.ts';
import { type LoadedConfig, loadConfig } from './load.ts';
import { suggestName } from './nearest.ts';
import { readConfigFile, readSource, type YamlFile } from './source.ts';
import { setYamlValue } from './text-edit.ts';

/**
 * Resolves a dotted name: a key, a section, or an entry below a map key (`agents.cmds.mine`). Throws `config_invalid`
 * with the nearest key.
 */
export function resolveKeyPath(name: string): string[] {
  const keys = describeKeys();
  const known = keys.some(
    ({ key, type }) =>
      key === name || key.startsWith(`${name}.`) || (/\bmap /.test(type) && name.startsWith(`${key}.`)),
  );
  const path = name.split('.');
  if (known && path.every((part) => part !== '' && part !== '__proto__')) return path;
  const problem = name === '' ? 'no key was named' : `unknown key ${name}${suggestKey(name, keys)}`;
  throw new SvcError('config_invalid', problem, {
    hint: 'svc config keys lists every key',
  });
}

/** Returns `, did you mean …?`: the keys with that ending (`timeout_sec`), otherwise the nearest key or section, or nothing. */
function suggestKey(name: string, keys: readonly KeyInfo[]): string {
  const all = keys.map(({ key }) => key);
  const ending = all.filter((key) => key.endsWith(`.${name}`));
  if (ending.length > 0) return `, did you mean ${ending.join(' or ')}?`;
  const sections = all.flatMap((key) => key.split('.').map((_, at, parts) => parts.slice(0, at).join('.')));
  return suggestName(name, new Set([...all, ...sections.filter((section) => section !== '')]));
}

/** Finds the map key of a dotted entry name. */
export const findMapKey = (name: string): KeyInfo | undefined =>
  describeKeys().find(({ key, type }) => /\bmap /.test(type) && name.startsWith(`${key}.`));

/** Parses a value from a command line: YAML, except that the text for a string key is taken literally. */
export function parseKeyValue(name: string, text: string): unknown {
  const holder = describeKeys().find(({ key }) => name === key || name.startsWith(`${key}.`));
  const isText = name === holder?.key ? holder.type === 'string' : holder?.type === 'map string->string';
  if (isText && text !== 'null' && !/^(?:".*"|'.*')$/s.test(text)) return text;
  try {
    return parse(text, { prettyErrors: false, logLevel: 'error' });
  } catch {
    throw new SvcError('config_invalid', `the value for ${name} is not valid YAML`, {
      hint: "quote lists and mappings for the shell, for example: svc config set policy.actors '[alice, bob]'",
    });
  }
}

/** Returns the text of a configuration file. Throws `config_invalid`. */
export function readConfigText(file: string): string {
  const read = readConfigFile(file);
  if ('problem' in read) throw new SvcError('config_invalid', `${file} ${read.problem}`);
  return read.text;
}

/** Returns the file's text with one key changed; nothing is written. A syntax error is left to the check. */
export function renderWithKey(options: { file: string; name: string; text: string }): string {
  const path = resolveKeyPath(options.name);
  const value = parseKeyValue(options.name, options.text);
  const before = readConfigText(options.file);
  return isBroken(before) ? before : setYamlValue(before, path, value);
}

/** Lists the keys that need consent below a dotted name: itself, the entry of a map, or the keys of a section. */
const listKeysUnder = (name: string): string[] =>
  listConsentKeys().flatMap((key) =>
    name.startsWith(`${key}.`) ? [name] : key === name || key.startsWith(`${name}.`) ? [key] : [],
  );

/** A change that a person makes to svc.yaml. */
export interface ConfigChange {
  file: string;
  env: NodeJS.ProcessEnv;
  /** The whole new text. */
  text: string;
  /** Change only if the file still has this content. */
  seen?: string | undefined;
  actor: string;
  /** The changed key; default: every key that the text changes. */
  name?: string | undefined;
}

/**
 * Checks and replaces svc.yaml in one step, and records consent to the changes, because the author has seen them.
 * Untouched values keep waiting. Returns the changed file's values. Throws `config_invalid`, `conflict`.
 */
export function writeConfig({ file, env, text, seen, actor, name }: ConfigChange): LoadedConfig {
  if (seen !== undefined && readConfigText(file) !== seen)
    throw new SvcError('conflict', `${file} was changed in the meantime; nothing was written`, {
      hint: 'svc config edit shows its current content',
    });
  const before = readSource(file);
  const { tree, home } = loadConfig({ file, env, text, believe: true });
  const keys = name === undefined ? listChangedKeys(before, tree) : listKeysUnder(name);
  if (keys.length > 0) {
    // A file for which use implies consent is agreed to by being written.
    const isFirstUse = loadOrNull({ file, env })?.consent.firstUse === 'agreed';
    recordAgreement(
      { home: home.path, file, tree },
      {
        how: 'written',
        actor,
        at: new Date().toISOString(),
        keys: isFirstUse ? undefined : keys,
        setups: keys.includes('projects')
          ? listChangedSetups(before.tree, tree, realpathSync(dirname(file)))
          : [],
      },
    );
  }
  replaceFile(file, text);
  return loadConfig({ file, env });
}

/** Lists keys under consent that a person has changed; none if the file was invalid before. */
function listChangedKeys({ tree, problems }: YamlFile, after: ConfigTree): string[] {
  return problems.length > 0 ? [] : listDifferingKeys(tree, after);
}

/** Records consent to all of a file that was just written. Throws `config_invalid`. */
export function agreeToFile({ file, env }: { file: string; env: NodeJS.ProcessEnv }): void {
  const { tree, home } = loadConfig({ file, env, believe: true });
  const at = new Date().toISOString();
  recordAgreement({ home: home.path, file, tree }, { how: 'written', actor: findActor(env), at });
}

/** Returns the current values of a file; null if it is invalid. */
function loadOrNull(options: { file: string; env: NodeJS.ProcessEnv }): LoadedConfig | null {
  try {
    return loadConfig(options);
  } catch {
    return null;
  }
}

/** Changes one key of svc.yaml and records consent to it. Returns the changed file's values. */
export const setKey = ({
  file,
  env,
  name,
  text,
  actor = findActor(env),
}: {
  file: string;
  env: NodeJS.ProcessEnv;
  name: string;
  text: string;
  actor?: string;
}): LoadedConfig => writeConfig({ file, env, actor, name, text: renderWithKey({ file, name, text }) });

const isBroken = (text: string): boolean =>
  parseDocument(text.replace(/^\uFEFF/, ''), { prettyErrors: false }).errors.length > 0;

/**
 * Replaces a user's file in one step, keeping its mode; a symbolic link stays. A missing file is created with its
 * folder and `mode`.
 */
export function replaceFile(file: string, text: string, { mode = 0o666 }: { mode?: number } = {}): void {
  const present = statSync(file, { throwIfNoEntry: false });
  if (!present) {
    mkdirSync(dirname(file), { recursive: true });
    writeFileAtomically(file, text, { mode });
  } else writeFileAtomically(realpathSync(file), text, { mode: present.mode & 0o7777, isModeExact: true });
}

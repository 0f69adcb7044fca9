import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fchmodSync,
  fsyncSync,
  mkdirSync,
  openSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { parse, parseDocument } from 'yaml';
import { SvcError } from '../errors.ts';
import { describeKeys } from './keys.ts';
import { type Loaded, loadConfig } from './load.ts';
import { suggestion } from './nearest.ts';
import { readText } from './source.ts';
import { setInText } from './text-edit.ts';

/**
 * The path that a dotted name means: a key, a section, or an entry below a key that is a map (`agents.cmds.mine`).
 * Throws `config_invalid` with the nearest key.
 */
export function keyPath(name: string): string[] {
  const keys = describeKeys();
  const known = keys.some(
    ({ key, type }) =>
      key === name || key.startsWith(`${name}.`) || (/\bmap /.test(type) && name.startsWith(`${key}.`)),
  );
  const path = name.split('.');
  if (known && path.every((part) => part !== '' && part !== '__proto__')) return path;
  const all = keys.map(({ key }) => key);
  throw new SvcError('config_invalid', `unknown key ${name}${suggestion(name, all)}`, {
    hint: 'svc config keys lists every key',
  });
}

/** A value as it is typed on a command line: YAML, except that a key of text takes the text as it stands. */
export function parseValue(name: string, text: string): unknown {
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

/**
 * Changes one key of svc.yaml. The whole result is checked before anything is written, and the file is replaced in one
 * step. Returns what the changed file says.
 */
export function setKey(options: {
  file: string;
  env: NodeJS.ProcessEnv;
  name: string;
  text: string;
}): Loaded {
  const { file, env, name } = options;
  const path = keyPath(name);
  const value = parseValue(name, options.text);
  const read = readText(file);
  if ('problem' in read) throw new SvcError('config_invalid', `${file} ${read.problem}`);
  // A syntax error is reported with its place rather than edited around.
  const text = isBroken(read.text) ? read.text : setInText(read.text, path, value);
  const loaded = loadConfig({ file, env, text });
  replaceFile(file, text);
  return loaded;
}

const isBroken = (text: string): boolean =>
  parseDocument(text.replace(/^\uFEFF/, ''), { prettyErrors: false }).errors.length > 0;

/**
 * Replaces a file in one step, keeping its mode; a symbolic link keeps pointing at the file. One that does not exist
 * is made, with its folder and `mode`.
 */
export function replaceFile(file: string, text: string, { mode }: { mode?: number } = {}): void {
  const present = statSync(file, { throwIfNoEntry: false });
  if (!present) mkdirSync(dirname(file), { recursive: true });
  const target = present ? realpathSync(file) : file;
  const draft = join(dirname(target), `.${basename(target)}.${randomBytes(6).toString('hex')}.tmp`);
  const handle = openSync(draft, 'wx', mode ?? 0o666);
  try {
    // Set apart, because what is given to open is narrowed by the umask.
    if (present) fchmodSync(handle, present.mode & 0o7777);
    writeSync(handle, text);
    fsyncSync(handle);
    closeSync(handle);
    renameSync(draft, target);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  }
}

import { existsSync } from 'node:fs';
import { basename } from 'node:path';
import type * as z from 'zod';
import { readConfigText, replaceFile } from './edit.ts';
import { checkSource } from './load.ts';
import { configInvalidError } from './problems.ts';
import { readSource } from './source.ts';
import { setYamlValue } from './text-edit.ts';

/** A person's own file in the machine home, checked like svc.yaml. */
export interface UserFile<S extends z.ZodType> {
  file: string;
  schema: S;
}

/**
 * Reads the file; a missing one is empty. Throws `config_invalid` with every problem and its place.
 *
 * @param text to check instead of the file's content
 */
export function readUserFile<S extends z.ZodType>({ file, schema }: UserFile<S>, text?: string): z.output<S> {
  const source = text === undefined && !existsSync(file) ? readSource(file, '') : readSource(file, text);
  const problems = checkSource(source, schema);
  if (problems.length > 0) throw configInvalidError(problems, (path) => basename(path));
  return schema.parse(source.tree);
}

/**
 * Sets values in the file, in one step, and keeps the comments; undefined removes one. A file with problems is left
 * unchanged. Throws `config_invalid`.
 */
export function writeUserFile<S extends z.ZodType>(
  user: UserFile<S>,
  changes: readonly { path: readonly string[]; value: unknown }[],
): void {
  const before = existsSync(user.file) ? readConfigText(user.file) : '';
  readUserFile(user, before);
  const after = changes.reduce((text, { path, value }) => setYamlValue(text, path, value), before);
  if (after === before) return;
  readUserFile(user, after);
  replaceFile(user.file, after, { mode: 0o600 });
}

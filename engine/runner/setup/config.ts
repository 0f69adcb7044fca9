import { isAbsolute, normalize } from 'node:path/posix';
import * as z from 'zod';
import { splitCommand } from '../../agents/index.ts';
import { SvcError } from '../../base/errors.ts';
import { refineWith } from '../../base/values/duration.ts';

/** A person must see everything they agree to: no characters that a terminal hides, reorders or obeys. */
const UNSEEN = /[^\P{C}\n\t]|[\p{Zl}\p{Zp}]/u;

function checkVisible(text: string): void {
  if (UNSEEN.test(text)) throw new SvcError('config_invalid', 'contains an invisible character');
}

function checkCommand(command: string): void {
  if (splitCommand(command).length === 0) throw new SvcError('config_invalid', 'the command is empty');
  checkVisible(command);
}

function checkEnvFile(path: string): void {
  checkVisible(path);
  const parts = normalize(path).split('/');
  const isInside = !isAbsolute(path) && !/^[A-Za-z]:|\\|\n/.test(path) && !parts.includes('..');
  if (!isInside || parts.at(-1) === '' || parts.at(-1) === '.')
    throw new SvcError('config_invalid', "expected a file's path inside the project's folder");
  if (parts.some((part) => part.toLowerCase() === '.git'))
    throw new SvcError('config_invalid', "git's own files are not copied");
}

const commandList = (when: string) =>
  z
    .array(z.string().superRefine(refineWith(checkCommand)))
    .default([])
    .meta({ description: `commands that run ${when}, in order, without a shell` });

/** The setup of an entry of `projects`; used only with the consent of a person on this machine. */
export const setupFields = {
  setup: commandList('in a new worktree before its agent starts'),
  teardown: commandList('in a worktree before it is removed'),
  env_files: z
    .array(z.string().superRefine(refineWith(checkEnvFile)))
    .default([])
    .meta({ description: 'files that git ignores, copied from the project into a new worktree' }),
};

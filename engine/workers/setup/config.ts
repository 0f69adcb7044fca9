import { isAbsolute, normalize } from 'node:path/posix';
import * as z from 'zod';
import { reporting } from '../../config/duration.ts';
import { SvcError } from '../../errors.ts';
import { tokenise } from '../template.ts';

function checkWords(command: string): void {
  if (tokenise(command).length === 0) throw new SvcError('config_invalid', 'the command is empty');
  if (command.includes('\0')) throw new SvcError('config_invalid', 'the command contains a zero byte');
}

function checkEnvFile(path: string): void {
  const parts = normalize(path).split('/');
  const isInside = !isAbsolute(path) && !/^[A-Za-z]:|\\|\0/.test(path) && !parts.includes('..');
  if (!isInside || parts.at(-1) === '' || parts.at(-1) === '.')
    throw new SvcError('config_invalid', "expected a file's path inside the project's folder");
  if (parts.some((part) => part.toLowerCase() === '.git'))
    throw new SvcError('config_invalid', 'the files of git itself are not copied');
}

const commands = (when: string) =>
  z
    .array(z.string().superRefine(reporting(checkWords)))
    .default([])
    .meta({ description: `commands that run ${when}, one after the other, without a shell` });

/** What an entry of `projects` may carry; used only with the consent of a person on this machine. */
export const setupFields = {
  setup: commands('in a new worktree before its agent starts'),
  teardown: commands('in a worktree before it is removed'),
  env_files: z
    .array(z.string().superRefine(reporting(checkEnvFile)))
    .default([])
    .meta({ description: 'files that git ignores, copied from the project into a new worktree' }),
};

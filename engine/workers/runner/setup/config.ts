import { isAbsolute, normalize } from 'node:path/posix';
import * as z from 'zod';
import { SvcError } from '../../../core/base/errors.ts';
import { refineWith } from '../../../core/base/values/duration.ts';
import { splitCommand } from '../../agents/index.ts';

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

/** Commands by name, each of which a person starts by `svc worktree run`. A name is also part of a file's name. */
const runCommands = z
  .record(
    z
      .string()
      .regex(
        /^[a-z][\w-]{0,30}$/i,
        'a name has letters, digits, _ and -, at most 31, and begins with a letter',
      ),
    z.string().superRefine(refineWith(checkCommand)),
  )
  .refine((commands) => Object.keys(commands).length <= 9, 'at most nine commands')
  .default({})
  .meta({ description: 'commands for svc worktree run, by name, without a shell; SVC_PORT is a free port' });

/** The setup of an entry of `projects`; used only with the consent of a person on this machine. */
export const setupFields = {
  setup: commandList('in a new worktree before its agent starts'),
  teardown: commandList('in a worktree before it is removed'),
  env_files: z
    .array(z.string().superRefine(refineWith(checkEnvFile)))
    .default([])
    .meta({ description: 'files that git ignores, copied from the project into a new worktree' }),
  run: runCommands,
};

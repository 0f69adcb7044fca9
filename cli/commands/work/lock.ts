import { resolve } from 'node:path';
import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatLocalTime, toPrintable } from '../../../engine/core/base/text.ts';
import { holderFlag, readHolder } from '../../arguments/holder.ts';
import { type Command, type CommandContext, defineCommand } from '../../command.ts';
import { definePageFlags, showPage } from '../../pages.ts';
import { checkPaths, checkStaged } from './lock-check.ts';

const pathArg = [{ name: 'path', about: 'file or folder', completes: 'file' }] as const;
const resolvePath = ({ cwd, args }: Pick<CommandContext, 'cwd' | 'args'>): string =>
  resolve(cwd, args[0] ?? '');

const acquire = defineCommand({
  name: 'lock acquire',
  about: 'lock a file or folder; repeat to extend',
  args: pathArg,
  flags: {
    ...holderFlag,
    ttl: { type: 'number', value: 'minutes', about: 'how long the lock is valid (30)' },
  },
  examples: ['lock acquire src/schema --ttl 60'],
  async run(context) {
    const { ttl } = context.flags;
    const holder = readHolder(context);
    const client = await context.engine();
    const lock = await client.call('lock.acquire', {
      holder,
      path: resolvePath(context),
      ttl_min: ttl,
    });
    context.result(
      lock,
      ({ path, holder, expires_at, fence }) =>
        `${holder} holds ${toPrintable(path)} until ${formatLocalTime(expires_at)} (fence ${fence})`,
    );
  },
});

const check = defineCommand({
  name: 'lock check',
  about: 'check that the holder has a valid lock; without a holder, that no one else has one',
  args: [{ name: 'path', about: 'files or folders', optional: true, rest: true, completes: 'file' }],
  flags: {
    ...holderFlag,
    staged: { type: 'boolean', about: 'check whether someone else has locked files that are staged in git' },
  },
  examples: ['lock check src/schema', 'lock check --staged'],
  async run(context) {
    const { args, flags, env, cwd } = context;
    const holder = flags.holder ?? (env.SVC_SESSION || undefined);
    if (flags.staged === args.length > 0) {
      throw new SvcError('usage', 'give paths, or --staged', { hint: 'svc lock check --help' });
    }
    if (flags.staged) return checkStaged(context, holder);
    const paths = args.map((path) => resolve(cwd, path));
    return checkPaths(context, paths, holder);
  },
});

const release = defineCommand({
  name: 'lock release',
  about: 'release a lock',
  args: pathArg,
  flags: holderFlag,
  examples: ['lock release src/schema'],
  async run(context) {
    const holder = readHolder(context);
    const client = await context.engine();
    const done = await client.call('lock.release', { holder, path: resolvePath(context) });
    context.result(done, ({ path }) => `${toPrintable(path)} is free`);
  },
});

const list = defineCommand({
  name: 'lock list',
  about: 'list locks; for a path also the locks above and below it',
  args: [{ name: 'path', about: 'file or folder', optional: true, completes: 'file' }],
  flags: definePageFlags(100),
  examples: ['lock list', 'lock list src'],
  async run(context) {
    const client = await context.engine();
    const around = context.args[0] === undefined ? {} : { path: resolvePath(context) };
    await showPage(context, {
      standard: 100,
      fetch: async (part) => (await client.call('lock.status', { ...around, ...part })).locks,
      count: async () => (await client.call('lock.status', around)).locks.length,
      getId: ({ path, holder }) => `${holder}:${path}`,
      columns: [
        { head: 'path', value: (each) => each.path, flexible: true },
        { head: 'holder', value: (each) => each.holder },
        { head: 'until', value: (each) => formatLocalTime(each.expires_at) },
        { head: 'fence', value: (each) => each.fence, right: true },
      ],
      empty: 'nothing is locked',
    });
  },
});

export const lockCommands: readonly Command[] = [acquire, check, release, list];

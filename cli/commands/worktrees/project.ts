import { EXIT, SvcError } from '../../../engine/core/base/errors.ts';
import { formatCount, toPrintable } from '../../../engine/core/base/text.ts';
import { configuration, listSetupFacts, type ProjectSetup, type WireValue } from '../../../engine/index.ts';
import { type Command, defineCommand } from '../../command.ts';
import { askForYes } from '../../confirm.ts';
import { definePageFlags, showPage } from '../../pages.ts';

type Project = WireValue<ProjectSetup>;

const CONSENT: Record<Project['consent'], string> = {
  not_needed: '-',
  given: 'consented',
  changed: 'changed',
  none: 'none',
};

const describeSetup = ({ setup, teardown, env_files, run }: Project): string =>
  [
    ...(setup.length === 0 ? [] : [`${setup.length} setup`]),
    ...(teardown.length === 0 ? [] : [`${teardown.length} teardown`]),
    ...(env_files.length === 0 ? [] : [formatCount(env_files.length, 'file')]),
    ...(run.length === 0 ? [] : [`${run.length} run`]),
  ].join(', ') || 'nothing';

/** Lists exactly what is agreed to, one line each. */
const formatProject = (project: Project): string =>
  [['project', project.id], ['folder', project.folder], ...listSetupFacts(project)]
    .map(([name = '', text = '']) => `${name.padEnd(9)} ${text}`)
    .join('\n');

const idArg = [{ name: 'id', about: 'project id', completes: 'project' }] as const;

const list = defineCommand({
  name: 'project list',
  about: 'list the projects, their worktree setup, and whether it was agreed to here',
  flags: definePageFlags(100),
  examples: ['project list'],
  async run(context) {
    const client = await context.engine();
    let problem: string | null = null;
    await showPage(context, {
      standard: 100,
      async fetch(part) {
        const found = await client.call('project.list', part);
        problem = found.find((each) => each.problem !== null)?.problem ?? null;
        return found;
      },
      count: async () => (await client.call('project.list', {})).length,
      getId: (each) => each.id,
      columns: [
        { head: 'project', value: (each) => each.id },
        { head: 'carries', value: describeSetup },
        {
          head: 'consent',
          value: (each) => CONSENT[each.consent],
          style: ({ consent }) => (consent === 'none' || consent === 'changed' ? 'warn' : undefined),
        },
        { head: 'folder', value: (each) => each.folder, flexible: true },
      ],
      empty: 'no projects',
    });
    if (problem !== null) context.note(`warning: ${problem}`);
  },
});

const trust = defineCommand({
  name: 'project trust',
  about: "agree on this machine that a project's setup, teardown and environment files are used",
  args: idArg,
  flags: {
    yes: { type: 'boolean', short: 'y', about: 'answer yes (SVC_SETUP_YES=1)' },
  },
  examples: ['project trust api', 'project trust api --yes'],
  async run(context) {
    const { readEnvironmentFlag } = await configuration();
    const client = await context.engine();
    const project = await client.call('project.show', { id: context.arg(0) });
    const { id, consent, digest } = project;
    if (consent === 'given' || consent === 'not_needed') {
      context.result(project, () =>
        consent === 'given' ? `${id} is already trusted` : `${id} has nothing that needs trust`,
      );
      return 0;
    }
    context.note(toPrintable(formatProject(project), { lines: true }));
    const isYes = context.flags.yes || readEnvironmentFlag(context.env, 'SVC_SETUP_YES');
    if (!isYes) {
      if (!context.stdin.isTTY || context.json)
        throw new SvcError('usage', 'no terminal is available to ask on', {
          hint: `svc project trust ${id} --yes agrees to what was shown`,
        });
      const question = 'Run this as you, without a sandbox, in every new worktree of the project?';
      if (!(await askForYes(context, question))) {
        context.note('nothing was recorded');
        return EXIT.failure;
      }
    }
    // By its digest, so that the consent covers exactly what was shown.
    const trusted = await client.call('project.trust', { id, digest });
    context.result(trusted, () => `${id} is trusted on this machine`);
    return 0;
  },
});

const untrust = defineCommand({
  name: 'project untrust',
  about: 'revoke that trust: its worktrees are not created until someone agrees again',
  args: idArg,
  examples: ['project untrust api'],
  async run(context) {
    const client = await context.engine();
    const project = await client.call('project.untrust', { id: context.arg(0) });
    context.result(project, ({ id }) => `${id} is no longer trusted`);
  },
});

const repin = defineCommand({
  name: 'project repin',
  about: "accept the repository that a project's folder is in now, after it has changed",
  args: idArg,
  examples: ['project repin api'],
  async run(context) {
    const client = await context.engine();
    const found = await client.call('project.repin', { id: context.arg(0) });
    context.result(found, ({ id, repository }) =>
      repository === null ? `${id} is not in a repository` : `${id} is in the repository ${repository}`,
    );
  },
});

const poolFlag = {
  pool: { type: 'string', about: 'pool of machines; by default default' },
} as const;

const share = defineCommand({
  name: 'project share',
  about: 'allow that the prompts and commits of a project are sent to the machines of a pool',
  args: idArg,
  flags: poolFlag,
  examples: ['project share api --pool gpu'],
  async run(context) {
    const client = await context.engine();
    const shared = await client.call('project.share', {
      id: context.arg(0),
      pool: context.flags.pool ?? 'default',
    });
    context.result(shared, ({ project, pools }) => `${project} may be sent to ${pools.join(', ')}`);
  },
});

const unshare = defineCommand({
  name: 'project unshare',
  about: 'withdraw that: no new run of the project goes there',
  args: idArg,
  flags: poolFlag,
  examples: ['project unshare api --pool gpu'],
  async run(context) {
    const client = await context.engine();
    const left = await client.call('project.unshare', {
      id: context.arg(0),
      pool: context.flags.pool ?? 'default',
    });
    context.result(left, ({ project, pools }) =>
      pools.length === 0
        ? `${project} stays on this machine`
        : `${project} may be sent to ${pools.join(', ')}`,
    );
  },
});

export const projectCommands: readonly Command[] = [list, trust, untrust, repin, share, unshare];

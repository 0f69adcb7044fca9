import { version } from '../../../engine/core/base/own-package.ts';
import { isAtLeast } from '../../../engine/core/base/versions.ts';
import { type Command, defineCommand } from '../../command.ts';
import { readAllStatus } from './status-all.ts';

/** `svc upgrade`: compares the versions of the running engines with this program. */
export const upgradeCommand: Command = defineCommand({
  name: 'upgrade',
  about: 'after the installation of another version: list the running engines that have to be restarted',
  flags: { check: { type: 'boolean', about: 'the same; npm installs the program itself' } },
  examples: ['upgrade --check'],
  async run(context) {
    const { rows } = await readAllStatus(context.env);
    const running = rows.flatMap(({ workspace, root, status }) =>
      status === null ? [] : [{ workspace, root, version: status.version }],
    );
    const others = running.filter((each) => each.version !== version);
    context.result({ version, engines: running, restart: others.map(({ root }) => root) }, () =>
      [
        `this is svc ${version}`,
        ...others.map((each) => `${each.workspace} (${each.root}): its engine is ${each.version}`),
        ...(others.length === 0
          ? [`${running.length === 0 ? 'no engine runs' : 'all running engines have this version'}`]
          : []),
      ].join('\n'),
    );
    if (others.length === 0) return 0;
    if (others.some((each) => isAtLeast(version, each.version)))
      context.note('svc down, then svc up in the folder of an older engine; its workers continue');
    if (others.some((each) => !isAtLeast(version, each.version)))
      context.note('an engine is newer than this program: install that version here too');
    return 1;
  },
});

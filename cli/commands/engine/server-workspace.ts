import { SvcError } from '../../../engine/core/base/errors.ts';
import { formatLocalTime } from '../../../engine/core/base/text.ts';
import { defineCommand } from '../../command.ts';
import { formatRows } from '../../print.ts';
import { administerServer, DATA_FLAG } from './server-folder.ts';

interface ListedWorkspace {
  id: string;
  name: string;
  account: string;
  machine: string | null;
  state: 'connected' | 'away' | 'unlinked';
  last_seen_at: string | null;
}

const describeWorkspaceState = ({ state, last_seen_at }: ListedWorkspace): string =>
  state === 'away' && last_seen_at !== null ? `seen ${formatLocalTime(last_seen_at)}` : state;

export const serverWorkspaceCommand = defineCommand({
  name: 'server workspace',
  about: 'manage the workspaces of a linked server: list them, or remove one with everything stored about it',
  args: [
    { name: 'action', about: 'action (list)', optional: true, choices: ['list', 'remove'] },
    { name: 'workspace', about: 'its name or id', optional: true },
  ],
  flags: {
    account: { type: 'string', value: 'name', about: 'account to list (all)' },
    ...DATA_FLAG,
  },
  examples: ['server workspace list', 'server workspace remove web-shop'],
  async run(context) {
    const [action = 'list', name] = context.args;
    if (action === 'remove') {
      if (name === undefined)
        throw new SvcError('usage', 'remove needs a workspace', { hint: 'for example remove web-shop' });
      const removed = await administerServer(context, 'workspace.remove', { name });
      context.result(removed, () => `${name} was removed, with everything the server stored about it`);
      return 0;
    }
    const { account } = context.flags;
    const input = account === undefined ? {} : { account };
    const rows = (await administerServer(context, 'workspace.list', input)) as ListedWorkspace[];
    const text = await formatRows(
      rows,
      [
        { head: 'workspace', value: (row) => row.name },
        { head: 'id', value: (row) => row.id },
        { head: 'account', value: (row) => row.account },
        { head: 'machine', value: (row) => row.machine ?? 'logged out' },
        { head: 'state', value: describeWorkspaceState },
      ],
      context.stdout,
    );
    context.result(rows, () => text);
    return 0;
  },
});

import { formatLocalTime } from '../../../engine/core/base/text.ts';
import { defineCommand } from '../../command.ts';
import { formatFacts, formatRows } from '../../print.ts';

export const entitlementsCommand = defineCommand({
  name: 'entitlements',
  about: 'show what the account of this workspace has: plan, lease, quotas with their use, capabilities',
  examples: ['entitlements', 'entitlements --json'],
  async run(context) {
    const client = await context.engine();
    const status = await client.call('entitlements.status', {});
    const { lease, quotas, capabilities, linked, server, account, person, plan } = status;
    const limits = quotas.map(({ name, limit, used, locked }): [string, string] => [
      name,
      [
        limit === null ? 'no limit' : `at most ${limit}`,
        ...(used === null ? [] : [`${used} used`]),
        ...(locked.length === 0 ? [] : [`locked: ${locked.join(', ')}`]),
      ].join(', '),
    ]);
    const facts = formatFacts([
      [
        'linked',
        linked ? `${server}${account === null ? '' : `, account ${account}`}` : 'no, and nothing is metered',
      ],
      ...(person === null ? [] : [['person', person] as [string, string]]),
      ['plan', plan ?? 'none'],
      [
        'lease',
        `${lease.state}${lease.ends_at === null ? '' : ` until ${formatLocalTime(lease.ends_at)}`}${lease.required ? ', required' : ''}`,
      ],
      ...(lease.note === null ? [] : [['note', lease.note] as [string, string]]),
      ...limits,
    ]);
    const rows = await formatRows(
      capabilities,
      [
        { head: 'capability', value: (row) => row.name },
        { head: 'state', value: (row) => (row.allowed ? 'allowed' : 'locked') },
        { head: 'why', value: (row) => row.why },
        { head: 'what to do', value: (row) => row.next ?? '' },
      ],
      context.stdout,
    );
    context.result(status, () => `${facts}\n\n${rows}`);
    return 0;
  },
});

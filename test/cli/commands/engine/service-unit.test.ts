import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatLaunchdAgent } from '../../../../cli/commands/engine/service-unit.ts';

test('an agent for launchd has every value as text of XML, whatever the folder is called', () => {
  const agent = formatLaunchdAgent({
    root: '/Users/ann/R&D <new>--shop',
    variables: { PATH: '/usr/bin:/bin', SVC_HOME: '/Users/ann/.config/svc' },
    command: ['/opt/node', '/opt/svc & co/svc.js', 'daemon'],
  });
  assert.ok(agent.startsWith('<?xml version="1.0" encoding="UTF-8"?>\n'));
  assert.ok(
    agent.includes('<key>WorkingDirectory</key><string>/Users/ann/R&amp;D &lt;new&gt;--shop</string>'),
  );
  assert.ok(agent.includes('<string>/opt/svc &amp; co/svc.js</string>'));
  assert.ok(agent.includes('<key>Label</key><string>svc.Users-ann-R-D-new-shop</string>'));
  // A comment of XML may not contain two dashes.
  for (const [comment = ''] of agent.matchAll(/(?<=<!--).*?(?=-->)/gs)) assert.doesNotMatch(comment, /--/);
  const open = [...agent.matchAll(/<(\w+)>/g)].map(([, name]) => name).sort();
  const closed = [...agent.matchAll(/<\/(\w+)>/g)].map(([, name]) => name).sort();
  assert.deepEqual(
    open,
    closed.filter((name) => name !== 'plist'),
  );
});

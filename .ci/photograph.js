// Makes docs/dashboard.svg: `node .ci/photograph.js [out.svg]` after a build. The workspace, its engine and the workers are real
// and live in a temporary folder; the scripted program stands in for an agent.
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { svgOf } from './picture.js';

const COLUMNS = 140;
const ROWS = 40;
const TITLE = 'svc';

/** Tasks of this machine, in order, each awaited up to the status. */
const TASKS = [
  { title: 'Greet new visitors by name', prompt: 'Greet new visitors by name.', until: 'done' },
  { title: 'Bring the changelog up to date', prompt: '#agent: dirty\n#agent: fail 3', until: 'failed' },
  {
    title: 'Find slow queries of the order list',
    prompt: '#agent: lines 9 1\n#agent: no-change\n#agent: hang',
    until: 'running',
  },
];

/** Prompts that come as signed requests and wait for a decision. */
const REQUESTS = [
  'Fix the flaky retry test in the gateway\n\nThe test "retries twice on 529" fails one run in ten. Find the race and fix it without raising the timeout, and add a regression test.',
  'Add a test for the empty cart',
];

/** What is done in the dashboard before the picture: keys to press, then text to await. */
const STEPS = [
  { shows: 'engine ok' },
  { shows: '│ │ Fix the flaky' },
  { shows: 'line 9 of 9' },
  { shows: 'needs_approval' },
];

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

/** Nothing of this machine in the picture: the agent is a program on the PATH, the workspace has a name of its own. */
function shorten(ws) {
  const bin = join(ws.repository.folder, 'bin');
  const file = join(ws.root, 'svc.yaml');
  const yaml = readFileSync(file, 'utf8');
  const [, command] = /"scripted":"(.*?) -- \{\{prompt\}\}"/.exec(yaml);
  mkdirSync(bin);
  writeFileSync(join(bin, 'scripted-agent'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  writeFileSync(file, yaml.replace(command, 'scripted-agent').replace('name: test', 'name: acme'));
  ws.agree();
  ws.env.PATH = `${bin}:${ws.env.PATH}`;
}

async function photograph() {
  const { makeWorkspace, SVC } = await import('../dist/test/support/workspace.js');
  const { openTerminal } = await import('../dist/test/support/terminal.js');
  const { until } = await import('../dist/test/support/wait.js');
  const ws = await makeWorkspace();
  shorten(ws);
  try {
    await ws.svc(['up']);
    const client = await ws.connect();
    for (const { title, prompt, until: status } of TASKS) {
      const { task_id: id } = await client.call('task.add', { title, agent: 'scripted', body: prompt });
      await client.call('task.run', { id });
      await until(
        async () => (await client.call('task.show', { id })).task.status === status,
        `${id} to be ${status}`,
      );
    }
    for (const prompt of REQUESTS) await ws.post(prompt);
    // Only what is the workspace's own: with a CI variable, say, the dashboard would not draw.
    const own = Object.entries(ws.env).filter(([name]) => name.startsWith('SVC_'));
    const terminal = await openTerminal({
      command: [process.execPath, SVC, 'dash'],
      columns: COLUMNS,
      rows: ROWS,
      cwd: ws.root,
      env: { ...Object.fromEntries(own), COLORTERM: 'truecolor' },
    });
    try {
      for (const { keys = [], shows } of STEPS) {
        if (keys.length > 0) terminal.keys(...keys);
        if (shows !== undefined) await terminal.shows(shows);
      }
      return svgOf(terminal.colours(), { columns: COLUMNS, rows: ROWS, title: TITLE });
    } finally {
      await terminal.close();
    }
  } finally {
    await ws.close();
  }
}

if (existsSync(join(ROOT, 'dist/tui'))) {
  const out = process.argv[2] ?? join(ROOT, 'docs/dashboard.svg');
  mkdirSync(dirname(out), { recursive: true });
  writeFileSync(out, await photograph());
  console.log(`wrote ${out}`);
} else {
  console.error('there is no dashboard to photograph: dist/tui is missing; run npm run build');
  process.exitCode = 1;
}

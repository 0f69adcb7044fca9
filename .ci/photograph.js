// Makes docs/dashboard.svg: `node .ci/photograph.js [out.svg]` after a build. The workspace, its engine and the workers are real
// and live in a temporary folder; the scripted program stands in for an agent.
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
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
    prompt: '#agent: no-change\n#agent: hang',
    until: 'running',
  },
];

/** Prompts that come as signed requests and wait for a decision. */
const REQUESTS = ['Fix the typo in README.md', 'Add a test for the empty cart'];

/** What is done in the dashboard before the picture: keys to press, then text to await. */
const STEPS = [{ shows: 'Decisions' }, { shows: 'Find slow queries' }, { shows: 'Fix the typo' }];

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');

async function photograph() {
  const { makeWorkspace, SVC } = await import('../dist/test/support/workspace.js');
  const { openTerminal } = await import('../dist/test/support/terminal.js');
  const { until } = await import('../dist/test/support/wait.js');
  const ws = await makeWorkspace();
  try {
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

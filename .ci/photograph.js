// Creates the pictures of docs/: `node .ci/photograph.js [part of a name]` after a build. With --text it prints the
// screens and writes nothing. Uses only a temporary folder.
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { SCENES } from './picture/scenes.js';
import { svgOf } from './picture.js';

const ROOT = join(dirname(fileURLToPath(import.meta.url)), '..');
const AGENTS = ['scripted', 'claude', 'codex', 'gemini', 'opencode'];

/** Keeps this machine out of the picture: agents are programs on PATH, and the workspace has a neutral name. */
function shorten(ws) {
  const bin = join(ws.repository.folder, 'bin');
  const file = join(ws.root, 'svc.yaml');
  const yaml = readFileSync(file, 'utf8');
  const [written, command] = /\{"scripted":"(.*?) -- \{\{prompt\}\}"\}/.exec(yaml);
  mkdirSync(bin);
  writeFileSync(join(bin, 'scripted-agent'), `#!/bin/sh\nexec ${command} "$@"\n`, { mode: 0o755 });
  const commands = Object.fromEntries(AGENTS.map((name) => [name, 'scripted-agent -- {{prompt}}']));
  writeFileSync(file, yaml.replace(written, JSON.stringify(commands)).replace('name: test', 'name: acme'));
  ws.agree();
  ws.env.PATH = `${bin}:${ws.env.PATH}`;
  ws.env.SVC_ACTOR = 'ada';
  for (const who of ['AUTHOR', 'COMMITTER'])
    Object.assign(ws.env, { [`GIT_${who}_NAME`]: 'Ada', [`GIT_${who}_EMAIL`]: 'ada@example.test' });
}

/** Runs the work of a scene, and calls back when it is in the wanted state. */
async function arrange({ tasks, requests }, work) {
  const { makeWorkspace, SVC } = await import('../dist/test/support/workspaces/workspace.js');
  const { until } = await import('../dist/test/support/wait.js');
  const ws = await makeWorkspace();
  shorten(ws);
  const daemon = spawn(process.execPath, [SVC, 'daemon', '--max-workers', '12'], {
    cwd: ws.root,
    env: ws.env,
    stdio: 'ignore',
  });
  try {
    await until(() => ws.daemonPid() === daemon.pid, 'the engine');
    const client = await ws.connect();
    for (const { title, prompt = title, agent = 'scripted', until: status } of tasks) {
      const { task_id: id } = await client.call('task.add', { title, agent, body: prompt });
      if (status === undefined) continue;
      await client.call('task.run', { id });
      await until(
        async () => (await client.call('task.show', { id })).task.status === status,
        `${id} to be ${status}`,
      );
    }
    for (const prompt of requests) await ws.post(prompt);
    await work(ws, SVC);
  } finally {
    await ws.close();
  }
}

async function photograph(ws, svc, { columns, rows, steps }) {
  const { openTerminal } = await import('../dist/test/support/terminals/terminal.js');
  // Only the workspace's own variables: with a CI variable, for example, the dashboard would not draw.
  const own = Object.entries(ws.env).filter(([name]) => name.startsWith('SVC_'));
  const terminal = await openTerminal({
    command: [process.execPath, svc, 'dash'],
    columns,
    rows,
    cwd: ws.root,
    env: { ...Object.fromEntries(own), COLORTERM: 'truecolor' },
  });
  try {
    for (const { keys = [], shows, gone } of steps) {
      if (keys.length > 0) terminal.keys(...keys);
      if (shows !== undefined) await terminal.shows(shows);
      if (gone !== undefined) await terminal.gone(gone);
    }
    return { screen: terminal.screen(), svg: svgOf(terminal.colours(), { columns, rows, title: 'svc' }) };
  } finally {
    await terminal.close();
  }
}

const words = process.argv.slice(2);
const isText = words.includes('--text');
const wanted = words.find((word) => !word.startsWith('--')) ?? '';
if (existsSync(join(ROOT, 'dist/tui'))) {
  for (const scene of SCENES) {
    const pictures = scene.pictures.filter(({ file }) => file.includes(wanted));
    if (pictures.length === 0) continue;
    await arrange(scene, async (ws, svc) => {
      for (const picture of pictures) {
        const { screen, svg } = await photograph(ws, svc, picture);
        if (!isText) writeFileSync(join(ROOT, picture.file), svg);
        console.log(isText ? `${picture.file}\n${screen}\n` : `wrote ${picture.file}`);
      }
    });
  }
} else {
  console.error('no dashboard to photograph: dist/tui is missing; run npm run build');
  process.exitCode = 1;
}

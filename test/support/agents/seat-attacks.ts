import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ContainmentKind } from '../../../engine/core/platform/index.ts';
import { PROTOCOL } from '../../../engine/daemon/wire.ts';
import { until } from '../wait.ts';

/** Returns the containment methods that a user has on this machine, named as in `SVC_CONTAINMENT`. */
export const LEVELS: readonly ContainmentKind[] = ['cgroup', 'pidns', 'marks'];

/**
 * A custom client: sends its arguments on the socket, then runs a task. Prints the answers as lines. `hellos` are
 * merged into an honest hello; `handOver` gives the open connection to a child before sending anything.
 */
const CLIENT = `
import { connect } from 'node:net';
import { readFileSync } from 'node:fs';
import { spawn } from 'node:child_process';
const { data, task, hellos = [{}], handOver = false, repeat = 1 } = JSON.parse(process.argv[2]);
const { socket: path } = JSON.parse(readFileSync(data + '/daemon.json', 'utf8'));
const honest = { protocol: ${PROTOCOL}, pid: process.pid, actor: 'ada', via: 'cli', run_id: null, cwd: '/', attends: false, env: {} };
const lines = [];
let id = 0;
for (let n = 0; n < repeat; n += 1)
  for (const hello of hellos) lines.push({ jsonrpc: '2.0', id: ++id, method: 'hello', params: { ...honest, ...hello } });
lines.push({ jsonrpc: '2.0', id: ++id, method: 'task.run', params: { id: task } });
const text = lines.map((line) => JSON.stringify(line) + '\\n').join('');
const line = connect(path);
line.on('error', (error) => { console.log('ERROR ' + error.code); process.exit(1); });
line.on('connect', () => {
  if (handOver) {
    // The child has the connection as file descriptor 3, and waits until its parent is gone.
    const child = spawn('setsid', ['env', '-i', process.execPath, '-e',
      \`setTimeout(() => { const s = new (require('net').Socket)({ fd: 3 }); s.on('data', (d) => { require('fs').writeFileSync(process.argv[2], d.toString() + 'END'); process.exit(0); }); s.write(process.argv[1]); }, 400)\`,
      text, handOver], { stdio: ['ignore', 'ignore', 'ignore', line], detached: true, env: {} });
    child.unref();
    setTimeout(() => process.exit(0), 200);
    return;
  }
  let heard = '';
  line.on('data', (chunk) => {
    heard += chunk;
    if (heard.split('\\n').length > lines.length) { console.log(heard); process.exit(0); }
  });
  line.write(text);
});
setTimeout(() => { console.log('NO ANSWER'); process.exit(1); }, 20000);
`;

/** A client of /mcp with the daemon's token. */
const OVER_HTTP = `
import { readFileSync } from 'node:fs';
const { data, task } = JSON.parse(process.argv[2]);
const { http: { host, port }, token } = JSON.parse(readFileSync(data + '/daemon.json', 'utf8'));
const url = 'http://' + host + ':' + port + '/mcp';
const headers = { authorization: 'Bearer ' + token, 'content-type': 'application/json', accept: 'application/json, text/event-stream' };
const post = (body, more = {}) => fetch(url, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify({ jsonrpc: '2.0', ...body }) });
const first = await post({ id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'c', version: '1' } } });
const session = { 'mcp-session-id': first.headers.get('mcp-session-id') ?? '' };
await first.text();
await post({ method: 'notifications/initialized' }, session);
console.log(await (await post({ id: 2, method: 'tools/call', params: { name: 'task_run', arguments: { id: task } } }, session)).text());
`;

/** Ways to run a task, as shell commands; each prints its answer. Orphans wait until their parents are gone. */
export function seatAttacks(options: {
  /** A folder that the worker can write to. */
  folder: string;
  data: string;
  task: string;
  /** A process of the person. */
  person: number;
  node: string;
  svc: string;
  config: string;
  /** The mount point of cgroups version 2, if the attacker can write there. */
  cgroups: string | null;
}): Record<string, string> {
  const { folder, data, task, person, node, svc, config, cgroups } = options;
  mkdirSync(folder, { recursive: true });
  const client = join(folder, 'client.mjs');
  const overHttp = join(folder, 'over-http.mjs');
  writeFileSync(client, CLIENT, { mode: 0o644 });
  writeFileSync(overHttp, OVER_HTTP, { mode: 0o644 });
  const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
  const raw = (more: object = {}) =>
    `${quoted(node)} ${quoted(client)} ${quoted(JSON.stringify({ data, task, ...more }))}`;
  const bare = 'env -i PATH=/usr/bin:/bin';
  const approve = `${bare} SVC_CONFIG=${quoted(config)} ${quoted(node)} ${quoted(svc)} task run ${task}`;
  /** An orphan without any variables of the run. */
  const orphan = (command: string, out: string): string =>
    `(setsid ${bare} /bin/sh -c ${quoted(`sleep 0.3; { ${command}; } >${out}.tmp 2>&1; mv ${out}.tmp ${out}`)} &) ; :`;
  const at = (name: string): string => join(folder, `orphan-${name}`);
  return {
    plainly: `${quoted(node)} ${quoted(svc)} task run ${task}`,
    'env -i': approve,
    'an orphan': orphan(approve, at('svc')),
    'an orphan with a client of its own': orphan(raw(), at('raw')),
    'nohup and a shell in between': orphan(`nohup /bin/sh -c ${quoted(`${raw()} & wait`)}`, at('nohup')),
    'a tmux server': `tmux -L svc-$$ -f /dev/null new -d ${quoted(`${bare} /bin/sh -c ${quoted(`sleep 0.3; ${raw()} >${at('tmux')}.tmp 2>&1; mv ${at('tmux')}.tmp ${at('tmux')}`)}`)}`,
    "another's pid": raw({ hellos: [{ pid: person }] }),
    'the pid of init': raw({ hellos: [{ pid: 1 }] }),
    'two hellos': raw({ hellos: [{ env: { SVC_SESSION: 'somebody' } }, {}] }),
    "the Chair's session": raw({ hellos: [{ env: { SVC_SESSION: 'chair-1' } }] }),
    'a run that is not': raw({ hellos: [{ run_id: '00000000-0000-4000-8000-000000000000' }] }),
    'a thousand hellos': raw({ repeat: 1000 }),
    'a connection that is handed on': `${bare} ${raw({ handOver: at('handed') })}`,
    '/mcp with the token': `${bare} ${quoted(node)} ${quoted(overHttp)} ${quoted(JSON.stringify({ data, task }))}`,
    '/mcp by an orphan': orphan(
      `${quoted(node)} ${quoted(overHttp)} ${quoted(JSON.stringify({ data, task }))}`,
      at('http'),
    ),
    'the namespaces of init': `nsenter -t 1 -p -m ${bare} ${raw()}`,
    'a namespace of its own': `unshare -Upf --mount-proc ${bare} ${raw()}`,
    ...(cgroups === null
      ? {}
      : {
          'another cgroup': orphan(
            `echo 0 >${quoted(join(cgroups, 'cgroup.procs'))}; ${raw()}`,
            at('cgroup'),
          ),
          'another cgroup at once': `/bin/sh -c ${quoted(`echo 0 >${cgroups}/cgroup.procs; exec ${bare} ${raw()}`)}`,
        }),
  };
}

/**
 * Returns a shell script for the worker that runs all attacks at the same time and waits for the orphans' answers.
 */
export function attackScript(folder: string, attacks: Record<string, string>): string {
  const lines = Object.entries(attacks).map(
    ([name, command], at) => `( ${command} ) >'${folder}/out-${at}' 2>&1 </dev/null # ${name}`,
  );
  const orphans = [
    ...Object.values(attacks)
      .join('\n')
      .matchAll(/\.tmp (\S+\/orphan-\w+)/g),
  ].map(([, file]) => file);
  const handed = join(folder, 'orphan-handed');
  const awaited = [...new Set([...orphans, handed])];
  return [
    '#!/bin/sh',
    ...lines,
    `for tries in $(seq 100); do`,
    `  ${awaited.map((file) => `[ -e ${file} ]`).join(' && ')} && break`,
    '  sleep 0.2',
    'done',
    `: >'${folder}/done'`,
    '',
  ].join('\n');
}

/** The answer to each attack, by its name or the orphan's file. */
export async function answersOf(
  folder: string,
  attacks: Record<string, string>,
): Promise<Record<string, string>> {
  await until(() => existsSync(join(folder, 'done')), 'the attacks to be over', 60_000);
  const read = (file: string) => readFileSync(join(folder, file), 'utf8');
  return Object.fromEntries([
    ...Object.keys(attacks).map((name, at) => [name, read(`out-${at}`)]),
    ...readdirSync(folder)
      .filter((file) => file.startsWith('orphan-'))
      .map((file) => [file, read(file)]),
  ]);
}

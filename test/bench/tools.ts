import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { mcpEndpoint, stdioClient } from '../support/agents/mcp.ts';
import { until } from '../support/wait.ts';
import { type Figure, figure } from './figure.ts';
import { inTurns, makeRig, now, type Rig, spread, time, watchFile } from './tools-rig.ts';
import { openSender, type Sender } from './tools-sender.ts';
import { starts } from './tools-start.ts';

const SENDERS = 20;
const ASKS = 100;
const TASKS = 1000;
const READER = 'reader';

/** Compares the tools with trivial ones on the same SDK, alternating. */
export async function tools(): Promise<Figure[]> {
  const rig = await makeRig();
  try {
    return [
      ...(await lists(rig, 'one task')),
      ...(await starts(rig)),
      ...(await sends(rig)),
      ...(await locks(rig)),
      ...(await answers(rig)),
      ...(await notices(rig)),
      ...(await manyTasks(rig)),
    ];
  } finally {
    await rig.close();
  }
}

async function lists({ stdio, http, plainStdio, plainHttp }: Rig, board: string): Promise<Figure[]> {
  const text = await stdio.read('task_list');
  for (const plain of [plainStdio, plainHttp]) await plain.read('keep', { text });
  const [ours, echo, same, web, webEcho, webSame] = await inTurns([
    () => stdio.read('task_list'),
    () => plainStdio.read('echo'),
    () => plainStdio.read('replay'),
    () => http.read('task_list'),
    () => plainHttp.read('echo'),
    () => plainHttp.read('replay'),
  ]);
  return [
    ...spread(`task_list over stdio, ${board}`, ours, echo, 'trivial tool'),
    ...spread(`task_list over stdio, ${board}`, ours, same, 'trivial tool that answers as much'),
    ...spread(`task_list over HTTP, ${board}`, web, webEcho, 'trivial tool'),
    ...spread(`task_list over HTTP, ${board}`, web, webSame, 'trivial tool that answers as much'),
  ];
}

async function manyTasks(rig: Rig): Promise<Figure[]> {
  const engine = await rig.ws.connect();
  await Promise.all(
    Array.from({ length: TASKS }, (_, at) => engine.call('task.add', { title: `task number ${at}` })),
  );
  return lists(rig, `${TASKS} tasks`);
}

/** A durable write costs an fsync for every caller. */
async function sends({ stdio, http, plainStdio, plainHttp }: Rig): Promise<Figure[]> {
  const message = { to_session: READER, body: 'a line of some length, as agents write to each other' };
  const [ours, plain, web, webPlain] = await inTurns(
    [
      () => stdio.read('msg_send', message),
      () => plainStdio.read('append', message),
      () => http.read('msg_send', message),
      () => plainHttp.read('append', message),
    ],
    { calls: 30 },
  );
  return [
    ...spread('msg_send over stdio', ours, plain, 'trivial tool with fsync'),
    ...spread('msg_send over HTTP', web, webPlain, 'trivial tool with fsync'),
  ];
}

async function locks({ stdio, plainStdio }: Rig): Promise<Figure[]> {
  const lock = { holder: 'me', path: 'app/main.txt' };
  const [ours, plain] = await inTurns(
    [
      async () => {
        await stdio.read('lock_acquire', lock);
        await stdio.read('lock_release', lock);
      },
      async () => {
        await plainStdio.read('append', lock);
        await plainStdio.read('append', lock);
      },
    ],
    { calls: 20 },
  );
  return spread('lock_acquire and lock_release', ours, plain, 'two trivial tools with fsync');
}

/** Time from the answer to the worker that continues. */
async function answers({ ws, stdio, worker, plainStdio }: Rig): Promise<Figure[]> {
  const asker = await stdioClient(ws, { env: worker });
  const fromCall: number[] = [];
  const fromAnswer: number[] = [];
  const plain: number[] = [];
  try {
    for (let round = 0; round < ASKS; round += 1) {
      let isOpen = false;
      const asked = asker.call(
        'ask',
        { question: `which of the two, ${round}?` },
        {
          onprogress: () => {
            isOpen = true;
          },
        },
      );
      await until(() => isOpen);
      const { asks } = await stdio.call('ask_list');
      const begin = performance.now();
      let answered = 0;
      let unblocked = 0;
      await Promise.all([
        stdio.read('ask_answer', { id: asks[0]?.id ?? 0, answer: 'the second' }).then(() => {
          answered = performance.now();
        }),
        asked.then(() => {
          unblocked = performance.now();
        }),
      ]);
      fromCall.push(unblocked - begin);
      fromAnswer.push(Math.max(0, unblocked - answered));
      plain.push(await time(() => plainStdio.read('append', { answer: 'the second' })));
    }
  } finally {
    await asker.close();
  }
  return [
    ...spread('ask_answer called to asker unblocked', fromCall, plain, 'trivial tool with fsync'),
    ...spread('ask_answer answered to asker unblocked', fromAnswer),
  ];
}

/** Time from the sending call to the line in the recipient's notice, for one sender and for many at the same time. */
async function notices({ ws, plainUrl }: Rig): Promise<Figure[]> {
  const watcher = await watchFile(join(ws.root, '.svc', 'notices', `${READER}.md`));
  const { url, token } = mcpEndpoint(ws);
  const open = (to: URL, shown: string | null): Promise<Sender[]> =>
    Promise.all(Array.from({ length: SENDERS }, () => openSender(to, shown)));
  const senders = await open(url, token);
  const plain = await open(plainUrl, null);
  let mark = 0;

  /** Runs every client's calls one after another; paced clients start at different times. */
  async function all(
    clients: readonly Sender[],
    each: number,
    paceMs: number,
    call: (client: Sender) => Promise<void>,
  ) {
    await Promise.all(
      clients.map(async (client, at) => {
        const begin = performance.now() + (paceMs * at) / clients.length;
        for (let count = 0; count < each; count += 1) {
          if (paceMs > 0) await delay(Math.max(0, begin + count * paceMs - performance.now()));
          await call(client);
        }
      }),
    );
  }

  async function measure(clients: readonly Sender[], each: number, paceMs = 0) {
    const sent = new Map<number, number>();
    const answered = new Map<number, number>();
    const seen = new Map<number, number>();
    const took = await time(() =>
      all(clients, each, paceMs, async (client) => {
        mark += 1;
        const own = mark;
        sent.set(own, now());
        await client.call('msg_send', { to_session: READER, body: `mark-${own}.` });
        answered.set(own, now());
      }),
    );
    await until(async () => {
      for (const [own, at] of await watcher.seen()) seen.set(own, at);
      return seen.size >= sent.size;
    });
    const after = (from: Map<number, number>) =>
      [...from].map(([own, at]) => Math.max(0, (seen.get(own) ?? Number.NaN) - at) / 1e6);
    return { fromCall: after(sent), fromAnswer: after(answered), perSecond: (1000 * sent.size) / took };
  }

  async function reference(clients: readonly Sender[], each: number, paceMs = 0) {
    const samples: number[] = [];
    const took = await time(() =>
      all(clients, each, paceMs, async (client) => {
        samples.push(await time(() => client.call('append', { body: 'mark' })));
      }),
    );
    return { samples, perSecond: (1000 * samples.length) / took };
  }

  try {
    await measure(senders, 25);
    await reference(plain, 25);
    const beside = 'trivial tool with fsync';
    const figures: Figure[] = [];
    for (const { who, clients, each, paceMs } of [
      { who: '1 sender', clients: 1, each: 300, paceMs: 0 },
      { who: `${SENDERS} senders, each 10 a second`, clients: SENDERS, each: 40, paceMs: 100 },
      { who: `${SENDERS} senders without a pause`, clients: SENDERS, each: 100, paceMs: 0 },
    ]) {
      const ours = await measure(senders.slice(0, clients), each, paceMs);
      const theirs = await reference(plain.slice(0, clients), each, paceMs);
      figures.push(
        ...spread(`msg_send called to notice written, ${who}`, ours.fromCall, theirs.samples, beside),
        ...spread(`msg_send answered to notice written, ${who}`, ours.fromAnswer),
      );
      if (paceMs > 0) continue;
      const name = `msg_send over HTTP, ${who} (reference: ${beside})`;
      figures.push(figure(name, ours.perSecond, 'messages/s', theirs.perSecond));
    }
    return figures;
  } finally {
    watcher.close();
    for (const each of [...senders, ...plain]) each.close();
  }
}

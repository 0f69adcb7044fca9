import { join } from 'node:path';
import { httpClient, type McpClient, stdioClient } from '../support/mcp.ts';
import { until } from '../support/wait.ts';
import { type Figure, figure } from './figure.ts';
import { inTurns, makeRig, now, type Rig, spread, time, watchFile } from './tools-rig.ts';
import { starts } from './tools-start.ts';

const SENDERS = 20;
const EACH_SENDS = 50;
const ASKS = 100;
const TASKS = 1000;
const READER = 'reader';

/** The tools beside trivial ones on the same SDK, in turns: 05 Speed. */
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
  const answer = await stdio.call('task_list');
  for (const plain of [plainStdio, plainHttp]) await plain.call('keep', answer);
  const [ours, echo, same, web, webEcho, webSame] = await inTurns([
    () => stdio.call('task_list'),
    () => plainStdio.call('echo'),
    () => plainStdio.call('replay'),
    () => http.call('task_list'),
    () => plainHttp.call('echo'),
    () => plainHttp.call('replay'),
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

/** A durable write costs an fsync, whoever asks for it. */
async function sends({ stdio, http, plainStdio, plainHttp }: Rig): Promise<Figure[]> {
  const message = { to_session: READER, body: 'a line of some length, as agents write to each other' };
  const [ours, plain, web, webPlain] = await inTurns(
    [
      () => stdio.call('msg_send', message),
      () => plainStdio.call('append', message),
      () => http.call('msg_send', message),
      () => plainHttp.call('append', message),
    ],
    { calls: 30 },
  );
  return [
    ...spread('msg_send over stdio', ours, plain, 'trivial tool with fsync'),
    ...spread('msg_send over HTTP', web, webPlain, 'trivial tool with fsync'),
  ];
}

async function locks({ stdio, plainStdio }: Rig): Promise<Figure[]> {
  const lock = { holder: 'bench', path: 'app/main.txt' };
  const [ours, plain] = await inTurns(
    [
      async () => {
        await stdio.call('lock_acquire', lock);
        await stdio.call('lock_release', lock);
      },
      async () => {
        await plainStdio.call('append', lock);
        await plainStdio.call('append', lock);
      },
    ],
    { calls: 20 },
  );
  return spread('lock_acquire and lock_release', ours, plain, 'two trivial tools with fsync');
}

/** From the answer to the worker that goes on. */
async function answers({ ws, stdio, worker, plainStdio }: Rig): Promise<Figure[]> {
  const asker = await stdioClient(ws, { env: worker });
  const fromCall: number[] = [];
  const fromAnswer: number[] = [];
  const plain: number[] = [];
  try {
    for (let round = 0; round < ASKS; round += 1) {
      let isOpen = false;
      const asked = asker.call<{ answer: string }>(
        'ask',
        { question: `which of the two, ${round}?` },
        {
          onprogress: () => {
            isOpen = true;
          },
        },
      );
      await until(() => isOpen);
      const { asks } = await stdio.call<{ asks: { id: number }[] }>('ask_list');
      const begin = performance.now();
      let answered = 0;
      let unblocked = 0;
      await Promise.all([
        stdio.call('ask_answer', { id: asks[0]?.id, answer: 'the second' }).then(() => {
          answered = performance.now();
        }),
        asked.then(() => {
          unblocked = performance.now();
        }),
      ]);
      fromCall.push(unblocked - begin);
      fromAnswer.push(Math.max(0, unblocked - answered));
      plain.push(await time(() => plainStdio.call('append', { answer: 'the second' })));
    }
  } finally {
    await asker.close();
  }
  return [
    ...spread('ask_answer called to asker unblocked', fromCall, plain, 'trivial tool with fsync'),
    ...spread('ask_answer answered to asker unblocked', fromAnswer),
  ];
}

/** From the call that sends to the line in the recipient's notice, for one sender and for many at once. */
async function notices({ ws, http, plainHttp, morePlain }: Rig): Promise<Figure[]> {
  const watcher = await watchFile(join(ws.root, '.svc', 'notices', `${READER}.md`));
  const senders: McpClient[] = [];
  const plain: McpClient[] = [];
  let mark = 0;
  try {
    for (let count = 0; count < SENDERS; count += 1) {
      senders.push(await httpClient(ws));
      plain.push(await morePlain());
    }
    const measure = async (clients: readonly McpClient[], each: number) => {
      const sent = new Map<number, number>();
      const answered = new Map<number, number>();
      const took = await time(() =>
        Promise.all(
          clients.map(async (client) => {
            for (let count = 0; count < each; count += 1) {
              mark += 1;
              const own = mark;
              sent.set(own, now());
              await client.call('msg_send', { to_session: READER, body: `mark-${own}.` });
              answered.set(own, now());
            }
          }),
        ),
      );
      const seen = new Map<number, number>();
      await until(async () => {
        for (const [own, at] of await watcher.seen()) seen.set(own, at);
        return seen.size >= sent.size;
      });
      const after = (from: Map<number, number>) =>
        [...from].map(([own, at]) => Math.max(0, (seen.get(own) ?? Number.NaN) - at) / 1e6);
      return { fromCall: after(sent), fromAnswer: after(answered), perSecond: (1000 * sent.size) / took };
    };
    const append = (clients: readonly McpClient[], each: number, into: number[]) =>
      time(() =>
        Promise.all(
          clients.map(async (client) => {
            for (let count = 0; count < each; count += 1) {
              into.push(await time(() => client.call('append', { body: `mark-${count}.` })));
            }
          }),
        ),
      );
    await measure(senders, 10);
    await append(plain, 10, []);
    const alone = await measure([http], 200);
    const aloneBeside: number[] = [];
    await append([plainHttp], 200, aloneBeside);
    const all = await measure(senders, EACH_SENDS);
    const allBeside: number[] = [];
    const took = await append(plain, EACH_SENDS, allBeside);
    const beside = 'trivial tool with fsync';
    return [
      ...spread('msg_send called to notice written, 1 sender', alone.fromCall, aloneBeside, beside),
      ...spread('msg_send answered to notice written, 1 sender', alone.fromAnswer),
      ...spread(`msg_send called to notice written, ${SENDERS} senders`, all.fromCall, allBeside, beside),
      ...spread(`msg_send answered to notice written, ${SENDERS} senders`, all.fromAnswer),
      figure(
        `msg_send, ${SENDERS} senders over HTTP (reference: ${beside})`,
        all.perSecond,
        'messages/s',
        (1000 * SENDERS * EACH_SENDS) / took,
      ),
    ];
  } finally {
    watcher.close();
    await Promise.all(senders.map((client) => client.close()));
  }
}

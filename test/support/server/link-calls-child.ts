import dns, { type LookupAddress } from 'node:dns';
import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';
import { asSvcError } from '../../../engine/core/base/errors.ts';
import { createServerCalls, nothing, type ServerCalls } from '../../../engine/link/server-calls.ts';

// Calls linked servers as an engine with this environment does; all names resolve to this machine. Each JSON line on
// stdin requests calls, which run one after another; a line on stdout reports their results.

/** Input of the child: the relevant variables, and the addresses to call with one token. */
export interface AskedCalls {
  env: Record<string, string>;
  urls: string[];
  patienceMs?: number;
}

/** Result of a call: the answer, or the code and message of its error. */
export type CallOutcome = { answer: unknown } | { code: string; message: string };

export const TOKEN = 'svcw_secret-of-the-calls';
const PROXY_VARIABLE = /^(?:https?|no)_proxy$/i;

type Looked = (error: Error | null, found: string | LookupAddress[], family?: number) => void;
Object.assign(dns, {
  lookup(_name: string, options: { all?: boolean }, done: Looked) {
    if (options.all === true) done(null, [{ address: '127.0.0.1', family: 4 }]);
    else done(null, '127.0.0.1', 4);
  },
});

async function callEach({ env, urls, patienceMs }: AskedCalls): Promise<CallOutcome[]> {
  for (const name of Object.keys(process.env)) if (PROXY_VARIABLE.test(name)) delete process.env[name];
  Object.assign(process.env, env);
  const opened = new Map<string, ServerCalls>();
  const outcomes: CallOutcome[] = [];
  for (const text of urls) {
    const url = new URL(text);
    const calls = opened.get(url.origin) ?? createServerCalls({ server: url, token: () => TOKEN });
    opened.set(url.origin, calls);
    const request = { answer: nothing, ...(patienceMs === undefined ? {} : { patienceMs }) };
    outcomes.push(
      await calls.call(`${url.pathname}${url.search}`, request).then(
        (answer) => ({ answer }),
        (thrown: unknown) => {
          const { code, message } = asSvcError(thrown);
          return { code, message };
        },
      ),
    );
  }
  for (const calls of opened.values()) await calls.close();
  return outcomes;
}

if (process.argv[1] === import.meta.filename)
  for await (const line of createInterface({ input: stdin }))
    stdout.write(`${JSON.stringify(await callEach(JSON.parse(line) as AskedCalls))}\n`);

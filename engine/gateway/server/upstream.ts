import { type LookupAddress, lookup } from 'node:dns';
import { BlockList } from 'node:net';
import { createBrotliDecompress, createGunzip, createInflate, createZstdDecompress } from 'node:zlib';
import { type Dispatcher, Pool, ProxyAgent } from 'undici';
import { SvcError } from '../../core/base/errors.ts';
import { familyOf, findCarriedV4, isMetadataAddress } from '../../core/http/metadata-addresses.ts';
import { findProxy, isProxyRefusal, type ProxySettings } from '../../core/http/proxies.ts';

/** Timeouts for an upstream, ms. */
export interface UpstreamLimits {
  connectMs: number;
  /** From the request to the first bytes of the answer. */
  firstByteMs: number;
  /** Between two chunks of the answer. */
  idleMs: number;
}

/** Why there is no answer, or no more of it. */
export class UpstreamFault extends Error {
  /** True if no server was reached: the request was not read. */
  readonly isUnreached: boolean;
  readonly isTimeout: boolean;
  constructor(message: string, { isUnreached = false, isTimeout = false } = {}) {
    super(message);
    this.name = 'UpstreamFault';
    this.isUnreached = isUnreached;
    this.isTimeout = isTimeout;
  }
}

export type UpstreamHeaders = Record<string, string | string[] | undefined>;

export interface UpstreamRequest {
  method: 'POST' | 'GET';
  /** With its query. */
  path: string;
  headers: Record<string, string>;
  body: Buffer | null;
  limits: UpstreamLimits;
}

/** The events of an answer; none follow `onEnd` or `onFault`. */
export interface UpstreamListener {
  onHead(status: number, headers: UpstreamHeaders): void;
  /** Called with decompressed data. */
  onData(chunk: Buffer): void;
  onEnd(): void;
  onFault(fault: UpstreamFault): void;
}

/** An exchange in progress. */
export interface UpstreamExchange {
  /** Ends it immediately; no further event is delivered. */
  abort(): void;
  pause(): void;
  resume(): void;
}

/** The connections to upstreams, one pool per origin. */
export interface UpstreamClient {
  send(baseUrl: string, request: UpstreamRequest, listener: UpstreamListener): UpstreamExchange;
  /** Closes the pools of all other origins. */
  keepOnly(baseUrls: readonly string[]): void;
  close(): Promise<void>;
}

const MOST_CONNECTIONS = 512;
const KEEP_ALIVE_MS = 30_000;

const INFLATERS: Readonly<Record<string, () => NodeJS.ReadWriteStream & { destroy(): void }>> = {
  gzip: createGunzip,
  'x-gzip': createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
  zstd: createZstdDecompress,
};

let localBlocks: BlockList | null = null;

/** Addresses of this machine and of its network's services. */
function createLocalBlocks(): BlockList {
  const list = new BlockList();
  list.addSubnet('127.0.0.0', 8, 'ipv4');
  list.addSubnet('169.254.0.0', 16, 'ipv4');
  list.addSubnet('0.0.0.0', 8, 'ipv4');
  list.addAddress('::1', 'ipv6');
  list.addAddress('::', 'ipv6');
  list.addSubnet('fe80::', 10, 'ipv6');
  list.addSubnet('fd00:ec2::', 32, 'ipv6');
  return list;
}

/** Reports whether a name may belong to this machine: it has no dot, or is under a domain for local use. */
const isLocalName = (host: string): boolean =>
  !host.includes('.') || /\.(?:localhost|local|internal|lan|home\.arpa|test)$/i.test(host);

/**
 * Drops addresses of this machine and of a cloud's metadata service for a public name: its owner decides where it
 * points, not the configuration.
 */
export function keepAllowed(host: string, addresses: readonly LookupAddress[]): LookupAddress[] {
  localBlocks ??= createLocalBlocks();
  const blocked = localBlocks;
  const isBlocked = (address: string): boolean =>
    [address, findCarriedV4(address) ?? address].some((form) => blocked.check(form, familyOf(form))) ||
    isMetadataAddress(address);
  return addresses.filter(({ address }) => isLocalName(host) || !isBlocked(address));
}

function lookupSafely(
  host: string,
  options: object,
  done: (error: NodeJS.ErrnoException | null, address: string | LookupAddress[], family?: number) => void,
): void {
  lookup(host, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return done(error, []);
    const kept = keepAllowed(host, addresses);
    const [first] = kept;
    if (first === undefined) {
      const refused: NodeJS.ErrnoException = new Error(
        `${host} points to this machine, or to the metadata of its cloud`,
      );
      refused.code = 'EADDRNOTALLOWED';
      return done(refused, []);
    }
    if ((options as { all?: boolean }).all === true) done(null, kept);
    else done(null, first.address, first.family);
  });
}

export function createUpstreams({
  connectMs,
  proxies,
}: {
  connectMs: number;
  proxies: ProxySettings;
}): UpstreamClient {
  const pools = new Map<string, Dispatcher>();

  function openPool(origin: string): Dispatcher {
    const options = {
      connections: MOST_CONNECTIONS,
      // With HTTP/2 one connection would serve all calls, and after a call without an answer the next ones would hang on it too.
      allowH2: false,
      pipelining: 1,
      keepAliveTimeout: KEEP_ALIVE_MS,
      // We use our own timers: these are only precise to a second.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { timeout: connectMs, allowH2: false, lookup: lookupSafely as never },
    };
    let proxy: string | null;
    try {
      proxy = findProxy(new URL(origin), proxies);
    } catch (error) {
      return new Pool(origin, { connect: (_options, done) => done(error as SvcError, null) });
    }
    if (proxy === null) return new Pool(origin, options);
    // Always a tunnel: a proxy must not see the content.
    return new ProxyAgent({ ...options, uri: proxy, proxyTunnel: true, proxyTls: { timeout: connectMs } });
  }

  function poolFor(origin: string): Dispatcher {
    const known = pools.get(origin);
    if (known !== undefined) return known;
    const pool = openPool(origin);
    pools.set(origin, pool);
    return pool;
  }

  return {
    send(baseUrl, request, listener) {
      const { origin, pathname } = new URL(baseUrl);
      return exchange(
        poolFor(origin),
        origin,
        { ...request, path: `${pathname.replace(/\/$/, '')}${request.path}` },
        listener,
      );
    },
    keepOnly(baseUrls) {
      const wanted = new Set(baseUrls.map((url) => new URL(url).origin));
      for (const [origin, pool] of pools) {
        if (wanted.has(origin)) continue;
        pools.delete(origin);
        // Exchanges in progress continue to their end.
        void pool.close();
      }
    },
    async close() {
      await Promise.all([...pools.values()].map((pool) => pool.destroy()));
      pools.clear();
    },
  };
}

const ABORTED = new Error('aborted');

function exchange(
  pool: Dispatcher,
  origin: string,
  request: UpstreamRequest,
  listener: UpstreamListener,
): UpstreamExchange {
  const { limits } = request;
  let controller: Dispatcher.DispatchController | null = null;
  let inflater: (NodeJS.ReadWriteStream & { destroy(): void }) | null = null;
  let isOver = false;
  let hasHead = false;
  let isPaused = false;
  let timer = setTimeout(onLate, limits.firstByteMs);

  function finishExchange(): boolean {
    if (isOver) return false;
    isOver = true;
    clearTimeout(timer);
    return true;
  }

  function failExchange(fault: UpstreamFault): void {
    if (!finishExchange()) return;
    controller?.abort(ABORTED);
    inflater?.destroy();
    listener.onFault(fault);
  }

  function onLate(): void {
    // The client is slow, not the upstream; it has its own limit.
    if (isPaused) return void timer.refresh();
    const ms = hasHead ? limits.idleMs : limits.firstByteMs;
    failExchange(
      new UpstreamFault(`the upstream sent nothing for ${Math.round(ms / 1000)} s`, { isTimeout: true }),
    );
  }

  const endExchange = (): void => {
    if (finishExchange()) listener.onEnd();
  };

  function startInflating(create: () => NodeJS.ReadWriteStream & { destroy(): void }): void {
    const stream = create();
    inflater = stream;
    stream.on('data', (chunk: Buffer) => !isOver && listener.onData(chunk));
    stream.on('end', endExchange);
    stream.on('error', () =>
      failExchange(new UpstreamFault('the answer is cut off, or its compression is invalid')),
    );
    stream.on('drain', () => !isPaused && controller?.resume());
  }

  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(given) {
      controller = given;
      if (isOver) given.abort(ABORTED);
    },
    onResponseStart(_controller, status, headers) {
      if (isOver || status < 200) return;
      hasHead = true;
      clearTimeout(timer);
      timer = setTimeout(onLate, limits.idleMs);
      const create = INFLATERS[String(headers['content-encoding'] ?? '').toLowerCase()];
      if (create !== undefined) startInflating(create);
      listener.onHead(status, headers);
    },
    onResponseData(given, chunk) {
      if (isOver) return;
      timer.refresh();
      if (inflater === null) listener.onData(chunk);
      else if (!inflater.write(chunk)) given.pause();
    },
    onResponseEnd() {
      if (inflater === null) endExchange();
      else inflater.end();
    },
    onResponseError(_controller, error) {
      failExchange(toFault(error, { hasHead, isProxied: pool instanceof ProxyAgent }));
    },
  };
  pool.dispatch(
    { origin, method: request.method, path: request.path, headers: request.headers, body: request.body },
    handler,
  );

  return {
    abort() {
      if (!finishExchange()) return;
      controller?.abort(ABORTED);
      inflater?.destroy();
    },
    pause() {
      isPaused = true;
      controller?.pause();
      inflater?.pause();
    },
    resume() {
      isPaused = false;
      if (!isOver) timer.refresh();
      controller?.resume();
      inflater?.resume();
    },
  };
}

/** Describes an error in our own words: the library's might include the sent data. */
function toFault(
  error: Error,
  { hasHead, isProxied }: { hasHead: boolean; isProxied: boolean },
): UpstreamFault {
  const { code = '' } = error as NodeJS.ErrnoException;
  if (error instanceof SvcError) return new UpstreamFault(error.message, { isUnreached: true });
  if (hasHead) return new UpstreamFault('the upstream cut off its answer');
  if (code === 'UND_ERR_HEADERS_OVERFLOW')
    return new UpstreamFault('the headers of its answer are too large');
  if (error.name === 'HTTPParserError' || /^bad (?:response|upgrade)$/.test(error.message))
    return new UpstreamFault('its answer is not HTTP/1.1');
  const who = isProxied ? 'the upstream, or the proxy in front of it,' : 'the upstream';
  if (code === 'UND_ERR_CONNECT_TIMEOUT')
    return new UpstreamFault(`${who} cannot be reached in time`, {
      isUnreached: true,
      isTimeout: true,
    });
  if (
    ['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTALLOWED'].includes(
      code,
    )
  )
    return new UpstreamFault(`${who} cannot be reached (${code})`, { isUnreached: true });
  if (isProxyRefusal(error))
    return new UpstreamFault('the proxy of HTTPS_PROXY or HTTP_PROXY refuses the connection', {
      isUnreached: true,
    });
  if (/^(?:ERR_TLS|CERT|SELF_SIGNED|DEPTH_ZERO|UNABLE_TO)/.test(code))
    return new UpstreamFault(`the upstream's certificate is refused (${code})`, { isUnreached: true });
  if (/^(?:ERR_SSL|EPROTO)/.test(code))
    return new UpstreamFault(`the upstream does not speak TLS, which https: requires (${code})`, {
      isUnreached: true,
    });
  return new UpstreamFault('the upstream closed the connection without an answer');
}

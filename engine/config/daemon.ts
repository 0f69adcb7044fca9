import * as z from 'zod';
import { addressKey, loopbackAddressKey } from '../core/base/values/address.ts';

/** The `daemon` section. */
export const daemonSchema = z.strictObject({
  socket: z.string().min(1).default('.svc/svc.sock').meta({
    consent: true,
    notation: 'string',
    description: 'Socket that the command line, the dashboard and agents connect to.',
    unset: '.svc/svc.sock, below paths.data',
  }),
  addr: loopbackAddressKey().default('127.0.0.1:0').meta({
    consent: true,
    notation: 'string',
    description: 'Loopback address for /mcp and /healthz; port 0 takes any free port.',
    unset: '127.0.0.1:0',
  }),
  reap_interval_sec: z.int().min(0).optional().meta({
    notation: '*int',
    description: 'Seconds between two sweeps for dead sessions, which free their locks, tasks and checkouts.',
    unset: '60; an explicit 0 turns the sweep off',
  }),
});

/** The `ui` section. */
export const uiSchema = z.strictObject({
  addr: addressKey().default('127.0.0.1:8790').meta({
    consent: true,
    notation: 'string',
    description: 'Address of the local interface; svc webhook serve listens here unless --addr is given.',
    unset: '127.0.0.1:8790',
  }),
});

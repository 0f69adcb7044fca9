/** Finding the chat of a phone, without an engine. */
export { readProxies } from '../../core/http/proxies.ts';
export { type PairedChat, pairTelegram } from '../../notify/push/pair-telegram.ts';

import { createPricing } from '../../../engine/gateway/books/pricing.ts';
import { createBooksReader } from '../../../engine/gateway/books/read.ts';
import { createCallStatistics } from '../../../engine/gateway/books/session-books.ts';
import { aiSchema } from '../../../engine/gateway/config.ts';

/** The calls in the gateway's database of a data folder, at svc's own prices; none without a database. */
export const readCallStatistics = (folder: string) =>
  createCallStatistics(createBooksReader(folder), () => createPricing({ ai: aiSchema.parse({}) }));

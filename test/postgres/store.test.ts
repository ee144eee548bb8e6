import { auditContract, ledgerWrites } from "../store/audit-contract.ts";
import { factorsContract } from "../store/factors-contract.ts";
import { ledgerContract } from "../store/ledger-contract.ts";
import { peopleContract } from "../store/people-contract.ts";
import { createNodes, createTables } from "../store/postgres-stores.ts";
import { rejectionsContract } from "../store/rejections-contract.ts";
import { responsesContract } from "../store/responses-contract.ts";
import { searchContract } from "../store/search-contract.ts";
import { targetChecksContract } from "../store/target-checks-contract.ts";

// `test/store/postgres.test.ts` runs the other contracts, with every `npm test`.
ledgerContract("PostgreSQL", createNodes);
auditContract("PostgreSQL", createNodes, ledgerWrites);
targetChecksContract("PostgreSQL", createTables);
peopleContract("PostgreSQL", createTables);
factorsContract("PostgreSQL", createTables);
searchContract("PostgreSQL", createTables);
rejectionsContract("PostgreSQL", createTables);
responsesContract("PostgreSQL", createTables);

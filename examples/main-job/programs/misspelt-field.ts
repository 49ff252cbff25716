import { crm } from "tools";

const [customer] = await crm.find_customers({ name: "Northwind" });
if (customer === undefined) return "no such customer";
return await crm.update_opportunity({ id: "opp-302", stage: "proposal", amount: 250000 });

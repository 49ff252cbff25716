const find = await tools.shop.find({ email: inputs.email });
const orders = await tools.shop.orders({ customer_id: find.customer_id });
const cancel = await tools.shop.cancel({ order: inputs.order, reason: "not needed" });
return cancel;
